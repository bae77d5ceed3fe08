// The two tokens Vonage knows: ours, RS256 with the application's key, goes with every call; theirs, HS256 with the account's signature
// secret, comes with every callback and holds the hash of its body.
import { Buffer } from 'node:buffer'
import { createHash, createHmac, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import { ProviderFault } from '../provider.ts'
import { isRecent } from './signed-callbacks.ts'
import { parseJson } from './vendor-http.ts'

const TOKEN_LIFE_S = 15 * 60
/** A token is not used to its end: clocks differ, and a call takes its time. */
const TOKEN_REUSE_S = 10 * 60

/** Gives a token that is good now. Signing one takes a millisecond or two, so one serves for a while. */
export function createVonageToken(config: Pick<ProviderConfigs['vonage'], 'application_id' | 'private_key'>) {
  let key: KeyObject | undefined
  let token = ''
  let issuedAt = Number.NEGATIVE_INFINITY
  return (now: number): string => {
    const iat = Math.floor(now / 1000)
    if (iat < issuedAt || iat >= issuedAt + TOKEN_REUSE_S) {
      key ??= readPrivateKey(config.private_key)
      const { application_id } = config
      token = signJwt(key, { application_id, jti: randomUUID(), iat, exp: iat + TOKEN_LIFE_S })
      issuedAt = iat
    }
    return token
  }
}

/** Shows when it is used: a wrong key in a config must not keep the app's other providers from working. */
function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    // The cause is left out: it may quote what it could not read.
    throw new ProviderFault('its private key cannot be read')
  }
  if (key.asymmetricKeyType !== 'rsa') throw new ProviderFault('its private key is not an RSA key')
  return key
}

const encodeSegment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signJwt(key: KeyObject, claims: object): string {
  const unsigned = `${encodeSegment({ typ: 'JWT', alg: 'RS256' })}.${encodeSegment(claims)}`
  return `${unsigned}.${sign('sha256', Buffer.from(unsigned), key).toString('base64url')}`
}

const TOKEN = /^Bearer +([\w-]{1,2000})\.([\w-]{1,4000})\.([\w-]{1,200})$/i
const HEADER = z.object({ alg: z.literal('HS256') })
const CLAIMS = z.object({
  payload_hash: z.string(),
  iat: z.number(),
  exp: z.number().optional(),
  application_id: z.string().optional(),
})

export interface SignedByVonage {
  secret: string
  application_id: string
  body: Uint8Array
  now: number
}

/** In: an Authorization header. The secret is the account's, so a token for another of its applications is refused too. */
export function isSignedByVonage(header: string | undefined, { secret, application_id, body, now }: SignedByVonage) {
  const [, head = '', payload = '', signature = ''] = TOKEN.exec(header ?? '') ?? []
  const expected = createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url')
  if (!isSameSecret(signature, expected)) return false
  const claims = CLAIMS.safeParse(decodeSegment(payload)).data
  if (!claims || !HEADER.safeParse(decodeSegment(head)).success) return false
  const { payload_hash, iat, exp = Number.POSITIVE_INFINITY } = claims
  const hash = createHash('sha256').update(body).digest('hex')
  return (
    isSameSecret(payload_hash.toLowerCase(), hash) &&
    isRecent(iat * 1000, now) &&
    now < exp * 1000 &&
    (claims.application_id ?? application_id) === application_id
  )
}

const decodeSegment = (part: string): unknown => parseJson(Buffer.from(part, 'base64url'))
