// Vonage's two tokens. Ours goes with every call and is signed (RS256) with the application's key. Vonage's comes with every callback, is
// signed (HS256) with the account's signature secret and holds the hash of the body.
import { Buffer } from 'node:buffer'
import { createHash, createHmac, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { ProviderFault } from '../provider.ts'
import { isRecent } from './signed-callbacks.ts'
import { parseJson } from './vendor-http.ts'

const TOKEN_LIFE_S = 15 * 60
/** A token is replaced before it expires, because clocks differ and a call takes time. */
const TOKEN_REUSE_S = 10 * 60

/** Returns a function that gives a valid token. Signing takes a millisecond or two, so a token is used for ten minutes. */
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

/** Called when the provider sends, not when it is created: a wrong key must not disable the app's other providers. */
function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    // The cause is left out, because it may quote the key.
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

/** In: an Authorization header. All applications of an account share the secret, so the token's application is checked too. */
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
