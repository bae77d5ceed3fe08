// In: a request with an operator's token, as a bearer or as its caller has read it from the body. Out: the operator's
// name, or a refusal. An operator has a token of ADMIN_TOKEN and may see every company, so a guesser is slowed down and
// logged.
//
// While an address is throttled, its tokens are not compared, not even a right one: otherwise a guesser could go on and would learn of the
// hit by the different answer. The log has the address in full, under a name that redact() does not hide: tools such as fail2ban block
// by it.
import type { Clock } from '../clock.ts'
import type { AdminToken } from '../config/secrets.ts'
import { isSameSecret } from '../crypto/compare-secrets.ts'
import type { Logger } from '../log/log.ts'
import { MINUTE_MS } from '../time.ts'
import { createAttemptThrottle } from './attempt-throttle.ts'
import type { CallerRequest, FindCaller } from './caller-address.ts'
import { httpException, rateLimited } from './problem.ts'

export type IdentifyOperator = (request: OperatorRequest, options?: TokenOptions) => string

export interface TokenOptions {
  /** The token that is checked, where it is not in the Authorization header. */
  token?: string
  /** A token of no operator, which this request accepts too. Wrong ones are counted all the same. */
  alsoAccepts?: string | null
}

export interface OperatorRequest extends CallerRequest {
  /** The state that the HTTP shell keeps. */
  state?: { requestId?: string }
}

export interface OperatorDeps {
  tokens: readonly AdminToken[]
  findCaller: FindCaller
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

const MAX_WRONG_TOKENS = 10

/** One for a process, so that guesses at the admin API and at /metrics are counted together. */
export function createIdentifyOperator({ tokens, findCaller, clock, log }: OperatorDeps): IdentifyOperator {
  const throttle = createAttemptThrottle({ maxFailures: MAX_WRONG_TOKENS, windowMs: MINUTE_MS, clock })

  function findOwner(given: string, alsoAccepts: string | null): string | undefined {
    const accepted = alsoAccepts === null ? tokens : [...tokens, { name: 'metrics', token: alsoAccepts }]
    // Every token is compared, so that the time does not depend on which one matches.
    return accepted.filter(({ token }) => isSameSecret(token, given))[0]?.name
  }

  return (request, { token, alsoAccepts = null } = {}) => {
    const authorization = request.get('authorization')
    if (token === undefined && authorization === '') throw tokenNeeded()
    const caller = findCaller(request)
    const waitMs = throttle.waitMs(caller)
    if (waitMs > 0) throw throttled(waitMs)
    const name = findOwner(token ?? bearerOf(authorization), alsoAccepts)
    if (name !== undefined) return name
    throttle.countFailure(caller)
    const { requestId } = request.state ?? {}
    const fields = { caller_address: caller.nearestKnown, throttled: throttle.waitMs(caller) > 0 }
    log.warn({ ...(requestId ? { request_id: requestId } : {}), ...fields }, 'operator.token_refused')
    throw tokenNeeded()
  }
}

const bearerOf = (authorization: string): string => /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''

const tokenNeeded = () => httpException(401, "An operator's token is needed.", { 'WWW-Authenticate': 'Bearer' })

const throttled = (waitMs: number) =>
  rateLimited({
    scope: 'operator_token',
    detail: "Too many wrong operator's tokens came from this address.",
    waitMs,
  })
