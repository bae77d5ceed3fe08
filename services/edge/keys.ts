// In: an Authorization header. Out: whose key it is, or a 401. Keys are remembered for a few seconds, so that a revoked one is
// refused soon. Nothing is concluded from how a key looks: only its hash is asked for.
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { httpException, type Problem } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import type { KeyKind } from '../../machines/otp.ts'
import { hashApiKey } from '../domain/tenancy/api-keys.ts'
import type { ApiKey } from '../domain/tenancy/documents.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import { capacity } from './capacity.ts'

export type Identify = (authorization: string, kinds: readonly KeyKind[]) => Promise<Identity>

export interface KeyParts {
  tenancy: Pick<Tenancy, 'keyByHash'>
  clock: Pick<Clock, 'now'>
  /** The most lookups under way at once. */
  maxLookups: number
}

export function identifying(parts: KeyParts): Identify {
  const known = knownKeys(parts)
  return async (authorization, kinds) => {
    const given = BEARER.exec(authorization)?.[1]
    if (given === undefined) throw unauthorized('An API key is needed: Authorization: Bearer <API_KEY>.')
    const key = await known(hashApiKey(given))
    if (key === null) throw unauthorized('The API key is unknown or revoked.', INVALID)
    if (!kinds.includes(key.kind)) throw unauthorized(`A ${kinds.join(' or ')} key is needed here.`, INVALID)
    const { _id: key_id, kind, mode, app_id, company_id } = key
    return { key_id, kind, mode, app_id, company_id }
  }
}

/** Whatever visible ASCII a bootstrap file may give as a key, and no more of it than is worth hashing. */
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i
const INVALID = ', error="invalid_token"'

const unauthorized = (detail: string, error = ''): Problem =>
  httpException(401, detail, { 'WWW-Authenticate': `Bearer realm="countersign"${error}` })

const KNOWN_FOR_MS = 3_000
const MOST_KNOWN = 10_000
const UNKNOWN_FOR_MS = 1_000
const MOST_UNKNOWN = 1_000

/** Unknown keys are remembered apart and briefly: whoever tries many pushes out only each other, and a key that has just been
 *  made is not refused for long. */
function knownKeys({ tenancy, clock, maxLookups }: KeyParts): (hash: string) => Promise<ApiKey | null> {
  const lookup = capacity(maxLookups)
  const keys = cached(hash => lookup(() => tenancy.keyByHash(hash)), { forMs: KNOWN_FOR_MS, most: MOST_KNOWN, clock })
  const unknown = new Map<string, number>()
  return async hash => {
    const until = unknown.get(hash)
    if (until !== undefined && clock.now() < until) return null
    const key = await keys.get(hash)
    if (key === null) {
      keys.forget(hash)
      unknown.delete(hash)
      unknown.set(hash, clock.now() + UNKNOWN_FOR_MS)
      if (unknown.size > MOST_UNKNOWN) unknown.delete(unknown.keys().next().value as string)
    }
    return key
  }
}
