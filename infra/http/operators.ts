// In: a request with an operator's token, as a bearer or as its caller has read it from the body. Out: the operator's name, or a refusal. An
// operator has a token of ADMIN_TOKEN and may see every company, so a guesser is slowed down and logged.
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

/** `token`: one that is not in the Authorization header. */
export type IdentifyOperator = (request: OperatorRequest, token?: string) => string

export interface OperatorRequest extends CallerRequest {
  /** Of the HTTP shell. */
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

  function findOperator(given: string): string | undefined {
    // Every token is compared, so that the time does not depend on which one matches.
    return tokens.filter(({ token }) => isSameSecret(token, given))[0]?.name
  }

  return (request, token) => {
    const authorization = request.get('authorization')
    if (token === undefined && authorization === '') throw tokenNeeded()
    const address = findCaller(request).nearestKnown
    const waitMs = throttle.waitMs(address)
    if (waitMs > 0) throw throttled(waitMs)
    const name = findOperator(token ?? bearerOf(authorization))
    if (name !== undefined) return name
    throttle.countFailure(address)
    const { requestId } = request.state ?? {}
    const fields = { caller_address: address, throttled: throttle.waitMs(address) > 0 }
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
