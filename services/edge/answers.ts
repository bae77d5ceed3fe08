// In: the OTP actor's answer. Out: the body of the response, with sealed members opened, or the refusal as a problem;
// and the headers that tell how far a limit is used.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import {
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
  type ReportMissingKey,
} from '../../infra/crypto/missing-key-reporter.ts'
import { httpException, type Problem } from '../../infra/http/problem.ts'
import { isoTime } from '../../infra/iso-time.ts'
import { requestOf, type Trace } from '../../infra/trace.ts'
import type { Identity, OtpAnswer, Refusal, VerificationView } from '../../machines/calls.ts'
import type { LimitRule } from '../../machines/settings.ts'
import { problem, refusalProblem } from '../domain/errors.ts'
import { atRest, inFlight } from '../domain/verifications/encryption-context.ts'
import type { Exchanged, Message, Verification, Verified } from './schemas.answers.ts'

export type Answer = Verification | Verified | Exchanged

export interface AnswerDeps {
  keyring: Pick<Keyring, 'unseal'>
  reportMissingKey: ReportMissingKey
}

export const createRespond =
  (deps: AnswerDeps) =>
  (answer: OtpAnswer, trace: Trace): Answer =>
    answer.kind === 'verification'
      ? // The link of a verification that is over leads nowhere any more, so the answer can do without it.
        verificationBody(deps, answer.verification, trace, answer.verification.status === 'pending')
      : unsealed(deps.reportMissingKey, trace, () => responseBody(deps.keyring, answer))

/** Makes an answer that needs a sealed text. While the key of that text is missing, it is the answer `without` it, or a refusal. */
export function unsealed<Result>(
  reportMissingKey: ReportMissingKey,
  trace: Trace,
  make: () => Result,
  known: { otp_id?: string } = {},
  without?: () => Result,
): Result {
  try {
    return make()
  } catch (error) {
    if (!isMissingKeyError(error)) throw error
    reportMissingKey(error, { ...requestOf({ trace }), ...known })
    if (without) return without()
    throw refusalProblem(KEY_MISSING)
  }
}

/** One answer for an unknown verification, for one of another app and for a text that is no id, so that a caller cannot
 *  tell which it is. */
export const otpNotFound = (): Problem =>
  problem('OtpNotFoundError', { detail: 'There is no such verification for this key.' })

const KEY_MISSING: Refusal = {
  kind: 'refused',
  error: 'ServiceUnavailableError',
  retry_after_ms: MISSING_KEY_RETRY_MS,
  detail: 'A key that is needed for the answer is not configured. Try again later.',
}

function responseBody(keyring: Pick<Keyring, 'unseal'>, answer: Exclude<OtpAnswer, { kind: 'verification' }>): Answer {
  switch (answer.kind) {
    case 'verified':
      return {
        otp_id: answer.otp_id,
        status: answer.status,
        matched: answer.matched,
        attempts_left: answer.attempts_left,
        verification_token: answer.sealed_token === null ? null : keyring.unseal(answer.sealed_token, inFlight.token),
      }
    case 'exchanged':
      return {
        otp_id: answer.otp_id,
        recipient: keyring.unseal(answer.sealed_recipient, inFlight.recipient),
        recipient_type: answer.recipient_type,
        channel: answer.channel,
        verified_at: isoTime(answer.verified_at),
      }
    case 'refused':
      throw refusalProblem(answer)
    case 'no_such_token':
      throw httpException(404, 'This verification token cannot be exchanged. Start a new verification.')
    // The actor failed, or a newer release of it answers with a kind that this one does not know.
    default:
      throw new Error('the OTP actor did not answer this call')
  }
}

/** The OTP actor answers the call of a message as that of a send. A message has no link, so nothing is left to say of one. */
export function messageAnswer(answer: Answer): Message {
  if (!('masked_recipient' in answer)) throw new Error('the OTP actor did not answer with a message')
  const { otp_id, channel, masked_recipient } = answer
  return { message_id: otp_id, status: 'pending', channel, masked_recipient }
}

/** `needsLink`: while its link cannot be read, it is refused instead of shown without it. */
export function verificationBody(
  { keyring, reportMissingKey }: AnswerDeps,
  { otp_id, first_id = otp_id, status, channel, masked_recipient, sealed_action_url, completion }: VerificationView,
  trace: Trace,
  needsLink: boolean,
): Verification {
  const withLink = (action_url: string | null): Verification => ({
    otp_id,
    status,
    channel,
    masked_recipient,
    action_url,
    completion,
  })
  const unsealLink = () => sealed_action_url && keyring.unseal(sealed_action_url, atRest.link(first_id))
  const withoutLink = needsLink ? undefined : () => withLink(null)
  return unsealed(reportMissingKey, trace, () => withLink(unsealLink()), { otp_id }, withoutLink)
}

export const RATE_LIMIT_HEADER = 'RateLimit'
export const RATE_LIMIT_POLICY_HEADER = 'RateLimit-Policy'

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) for the limit that is nearest to its end,
 *  or that refuses: for server keys only, because a device would learn of a stranger's counters. */
export function rateLimitHeaders({ kind }: Identity, answer: OtpAnswer): Record<string, string> {
  if (kind !== 'server') return {}
  if (answer.kind === 'refused') {
    const { scope, retry_after_ms, rule } = answer
    return scope === undefined || retry_after_ms === undefined
      ? {}
      : {
          [RATE_LIMIT_HEADER]: limitState(scope, 0, retry_after_ms),
          ...(rule && { [RATE_LIMIT_POLICY_HEADER]: limitPolicy(scope, rule) }),
        }
  }
  const limit = 'limit' in answer ? answer.limit : undefined
  if (limit === undefined) return {}
  const { scope, remaining, more_in_ms } = limit
  return {
    [RATE_LIMIT_HEADER]: limitState(scope, remaining, more_in_ms),
    [RATE_LIMIT_POLICY_HEADER]: limitPolicy(scope, limit),
  }
}

const limitPolicy = (scope: string, { max, seconds }: LimitRule): string => `"${scope}";q=${max};w=${seconds}`
const limitState = (scope: string, remaining: number, moreInMs: number): string =>
  `"${scope}";r=${remaining};t=${Math.ceil(moreInMs / 1000)}`
