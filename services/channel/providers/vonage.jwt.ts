// The two tokens Vonage knows: ours, RS256 with the application's key, goes with every call; theirs, HS256 with the account's signature
// secret, comes with every callback and holds the hash of its body.
import { Buffer } from 'node:buffer'
import { createHash, createHmac, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { z } from 'zod'
import { equal } from '../../../infra/crypto/compare.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import { ProviderFault } from '../provider.ts'
import { jsonOf } from './answers.ts'
import { isFresh } from './callbacks.ts'

const LIFE_S = 15 * 60
/** A token is not used to its end: clocks differ, and a call takes its time. */
const USED_FOR_S = 10 * 60

/** Gives a token that is good now. Signing one takes a millisecond or two, so one serves for a while. */
export function vonageTokens(config: Pick<ProviderConfigs['vonage'], 'application_id' | 'private_key'>) {
  let key: KeyObject | undefined
  let token = ''
  let madeAt = Number.NEGATIVE_INFINITY
  return (now: number): string => {
    const iat = Math.floor(now / 1000)
    if (iat < madeAt || iat >= madeAt + USED_FOR_S) {
      key ??= keyOf(config.private_key)
      const { application_id } = config
      token = signed(key, { application_id, jti: randomUUID(), iat, exp: iat + LIFE_S })
      madeAt = iat
    }
    return token
  }
}

/** Shows when it is used: a wrong key in a config must not keep the app's other providers from working. */
function keyOf(pem: string): KeyObject {
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

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(key: KeyObject, claims: object): string {
  const unsigned = `${encoded({ typ: 'JWT', alg: 'RS256' })}.${encoded(claims)}`
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
  if (!equal(signature, expected)) return false
  const claims = CLAIMS.safeParse(decoded(payload)).data
  if (!claims || !HEADER.safeParse(decoded(head)).success) return false
  const { payload_hash, iat, exp = Number.POSITIVE_INFINITY } = claims
  const hash = createHash('sha256').update(body).digest('hex')
  return (
    equal(payload_hash.toLowerCase(), hash) &&
    isFresh(iat * 1000, now) &&
    now < exp * 1000 &&
    (claims.application_id ?? application_id) === application_id
  )
}

const decoded = (part: string): unknown => jsonOf(Buffer.from(part, 'base64url'))
