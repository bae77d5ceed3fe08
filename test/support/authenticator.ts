// An authenticator in software, as a browser would use one. In: the options of the admin API. Out: what
// navigator.credentials answers, as JSON. What an attacker would change can be given: the origin, the host, the
// counter, whether the owner was verified.
import { Buffer } from 'node:buffer'
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface Lies {
  origin?: string
  /** Made in a frame of another origin's page. */
  crossOrigin?: boolean
  rpId?: string
  counter?: number
  userVerified?: boolean
  userHandle?: string
  challenge?: string
}

type Json = Record<string, unknown>

export interface Authenticator {
  id: string
  /** Answers to creation options. */
  create(options: Json, lies?: Lies): Json
  /** Answers to request options. The counter grows by one each time. */
  get(options: Json, lies?: Lies): Json
}

const USER_PRESENT = 1
const USER_VERIFIED = 4
const HAS_KEY = 64

export function createAuthenticator(origin: string): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rawId = randomBytes(16)
  const id = rawId.toString('base64url')
  let uses = 0
  let handle = ''

  const clientData = (type: string, challenge: unknown, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    )
  const authenticatorData = (rpId: unknown, extra: Buffer, flags: number, lies: Lies): Buffer => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(lies.counter ?? uses)
    const verified = lies.userVerified === false ? 0 : USER_VERIFIED
    return Buffer.concat([
      sha256(Buffer.from(String(lies.rpId ?? rpId))),
      Buffer.from([USER_PRESENT | verified | flags]),
      count,
      extra,
    ])
  }
  const answer = (response: Json): Json => ({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })

  return {
    id,
    create({ rp, user, challenge }, lies = {}) {
      handle = (user as { id: string }).id
      const clientDataJSON = clientData('webauthn.create', challenge, lies)
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, rawId.length]), rawId, coseKey(publicKey)])
      const authData = authenticatorData((rp as { id: string }).id, credential, HAS_KEY, lies)
      // {"fmt": "none", "attStmt": {}, "authData": bytes} in CBOR.
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        Buffer.from([0x59, authData.length >> 8, authData.length & 255]),
        authData,
      ])
      return answer({ ...encoded({ clientDataJSON, attestationObject }), transports: ['internal'] })
    },
    get({ rpId, challenge }, lies = {}) {
      uses += 1
      const clientDataJSON = clientData('webauthn.get', challenge, lies)
      const authData = authenticatorData(rpId, Buffer.alloc(0), 0, lies)
      const signature = sign('sha256', Buffer.concat([authData, sha256(clientDataJSON)]), privateKey)
      const parts = encoded({ clientDataJSON, authenticatorData: authData, signature })
      return answer({ ...parts, userHandle: lies.userHandle ?? handle })
    },
  }
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

const encoded = (parts: Record<string, Buffer>): Json =>
  Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, bytes.toString('base64url')]))

const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])

/** {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y} in CBOR. */
function coseKey(publicKey: ReturnType<typeof generateKeyPairSync>['publicKey']): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' }) as { x?: string; y?: string }
  const bytes = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')])
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    bytes(x),
    Buffer.from([0x22]),
    bytes(y),
  ])
}
