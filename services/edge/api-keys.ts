// In: an API key, or the Authorization header that holds it. Out: the identity of the key, or a 401. Keys are cached
// for a few seconds only, so that a key that was revoked, or whose app was closed, is refused soon. The form of a key
// says nothing: only its hash is looked up. An address that fails again and again is refused before its key is looked
// up, except with keys that this process knows.
import { Buffer } from 'node:buffer'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { createAttemptThrottle, type ThrottledCaller } from '../../infra/http/attempt-throttle.ts'
import { type HttpCode, httpException, type Problem, rateLimited } from '../../infra/http/problem.ts'
import type { TrustsCaller } from '../../infra/http/request-trace.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Identity } from '../../machines/calls.ts'
import type { KeyKind } from '../../machines/otp.ts'
import { type Admission, type Holder, UNKNOWN_CALLERS } from '../domain/admission.ts'
import { hashApiKey } from '../domain/tenancy/api-keys.ts'
import type { ApiKey } from '../domain/tenancy/documents.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import type { KeyUsage } from './key-usage.ts'

/** `apiKey`: undefined where the header holds none. `findCaller`: asked for a key that is not known yet; where there is
 *  none, failures do not count. */
export type Identify = (
  apiKey: string | undefined,
  kinds: readonly KeyKind[],
  findCaller?: () => ThrottledCaller,
) => Promise<Identity>

export interface KeyDeps {
  tenancy: Pick<Tenancy, 'keyByHash'>
  clock: Pick<Clock, 'now'>
  admission: Pick<Admission, 'read'>
  usage: Pick<KeyUsage, 'record'>
}

export function createIdentify(deps: KeyDeps): Identify {
  const keys = createKeys(deps)
  const throttle = createAttemptThrottle({ maxFailures: MAX_UNKNOWN_KEYS, windowMs: MINUTE_MS, clock: deps.clock })

  /** Callers behind one address share it, so one whose key is known is never refused for what the others do. */
  async function findKey(hash: string, findCaller?: () => ThrottledCaller): Promise<ApiKey | null> {
    if (findCaller === undefined || keys.isKnown(hash)) return keys.find(hash)
    const caller = findCaller()
    const waitMs = throttle.waitMs(caller)
    if (waitMs > 0) throw rateLimited({ scope: 'api_key', detail: TOO_MANY_UNKNOWN_KEYS, waitMs })
    const key = await keys.find(hash)
    if (key === null) throttle.countFailure(caller)
    return key
  }

  return async (apiKey, kinds, findCaller) => {
    if (apiKey === undefined)
      throw unauthorized('An API key is needed: Authorization: Bearer <API_KEY>.', 'invalid_key')
    const key = await findKey(hashApiKey(apiKey), findCaller)
    // One answer for all, because a key that is refused may be in a stranger's hands.
    if (key === null)
      throw unauthorized('The API key is unknown or revoked, or its app is closed.', 'invalid_key', 'invalid_token')
    if (!kinds.includes(key.kind))
      throw unauthorized(`A ${kinds.join(' or ')} key is needed here.`, 'wrong_key_kind', 'insufficient_scope')
    deps.usage.record(key)
    const { _id: key_id, kind, mode, app_id, company_id } = key
    return { key_id, kind, mode, app_id, company_id }
  }
}

/** Servers are trusted: their keys are not in strangers' hands, as those of devices are. Asked before the path is
 *  known, so the key may come as it does in any API of the edge. */
export const createTrustsCaller =
  (identify: Identify): TrustsCaller =>
  async authorization => {
    const apiKey = bearerKeyOf(authorization) ?? basicCredentialsOf(authorization)?.apiKey
    return identify(apiKey, ['server']).then(
      () => true,
      error => {
        // The router would wait for the store as long once more.
        if (error instanceof Unavailable) throw error
        // The router refuses it, with the reason.
        return false
      },
    )
  }

export const bearerKeyOf = (authorization: string): string | undefined => BEARER.exec(authorization)?.[1]

/** The user's name and the API key, which is the password. */
export function basicCredentialsOf(authorization: string): { user: string; apiKey: string } | null {
  const [, base64 = ''] = BASIC.exec(authorization) ?? []
  const [, user = '', apiKey = ''] = USER_AND_KEY.exec(Buffer.from(base64, 'base64').toString('latin1')) ?? []
  return apiKey === '' ? null : { user, apiKey }
}

/** A bootstrap file may give any visible ASCII as a key. The length is limited because every key is hashed. */
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i
const BASIC = /^Basic +([A-Za-z0-9+/=]{1,512})$/i
const USER_AND_KEY = /^([^:]*):([\x21-\x7e]{1,256})$/

/** `error`: of RFC 6750; none where no key was given. */
function unauthorized(detail: string, code: HttpCode, error?: 'invalid_token' | 'insufficient_scope'): Problem {
  const challenge = `Bearer realm="countersign"${error === undefined ? '' : `, error="${error}"`}`
  return httpException(401, detail, { 'WWW-Authenticate': challenge }, code)
}

/** In a minute, from one address. */
export const MAX_UNKNOWN_KEYS = 100
const TOO_MANY_UNKNOWN_KEYS = 'Too many calls with unknown API keys came from this address.'

const KEY_CACHE_MS = 3_000
const MAX_CACHED_KEYS = 10_000
const UNKNOWN_KEY_CACHE_MS = 1_000
const MAX_CACHED_UNKNOWN_KEYS = 1_000

/** Unknown keys have a cache of their own, so that a flood of them cannot push out known keys. It is short, so that a new key works
 *  soon. A key that was known before is looked up again in a place of its company, where such a flood has none. */
function createKeys({ tenancy, clock, admission }: KeyDeps) {
  // Twice as many, because a bounded map may keep only half: each key in the cache has its holder here.
  const holders = createBoundedMap<Holder>(2 * MAX_CACHED_KEYS)
  const lookUp = async (hash: string): Promise<ApiKey | null> => {
    const key = await admission.read(holders.get(hash) ?? UNKNOWN_CALLERS, () => tenancy.keyByHash(hash))
    if (key === null) holders.delete(hash)
    else holders.set(hash, { company_id: key.company_id, kind: key.kind })
    return key
  }
  const keys = createCache(lookUp, { ttlMs: KEY_CACHE_MS, maxSize: MAX_CACHED_KEYS, clock })
  const unknownUntil = createBoundedMap<number>(MAX_CACHED_UNKNOWN_KEYS)
  return {
    /** Whether it was a key when it was last looked up. */
    isKnown: (hash: string): boolean => holders.get(hash) !== undefined,
    async find(hash: string): Promise<ApiKey | null> {
      const until = unknownUntil.get(hash)
      if (until !== undefined && clock.now() < until) return null
      const key = await keys.get(hash)
      if (key === null) {
        keys.invalidate(hash)
        unknownUntil.set(hash, clock.now() + UNKNOWN_KEY_CACHE_MS)
      }
      return key
    },
  }
}
