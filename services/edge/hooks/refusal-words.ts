// What a login's user reads in place of a code. In: a refusal, and a language. Out: a sentence that says what the user can do about it.
// What the operator can do about it is told where operators look: in the timeline and the record of refusals.
import type { Problem } from '../../../infra/http/problem.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import { type RefusalSentences, refusalSentences } from '../../domain/texts/languages.refusals.ts'

/** Another number or address may do. */
const OF_RECIPIENT: ReadonlySet<string> = new Set<ErrorType>([
  'InvalidRecipientError',
  'NoEnabledChannelError',
  'GeoBlockedError',
  'RecipientBlockedError',
])
/** Limits that this person has used up. */
const OF_PERSON: ReadonlySet<unknown> = new Set<LimitScope>(['recipient', 'client_ip', 'client_ip_reputation'])

function sentenceOf({ type, extras }: Problem): keyof RefusalSentences {
  if (OF_RECIPIENT.has(type)) return 'unreachable'
  return type === 'RateLimitExceededError' && OF_PERSON.has(extras.members?.scope) ? 'tooMany' : 'later'
}

/** `locale`: one of `LANGUAGES`. */
export const refusalWords = (problem: Problem, locale: string): string => refusalSentences(locale)[sentenceOf(problem)]
