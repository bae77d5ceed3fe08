// How often the codes of one recipient can be guessed in a day. In: an app's settings. Out: the number of guesses, and the most that a
// code of that length allows. Pure.
import type { AppSettings, LimitRule } from '../../../machines/settings.ts'
import { mostIn } from '../../../machines/windows.ts'

/** The settings that decide how often a code can be guessed. */
export type GuessSettings = Pick<AppSettings, 'verify_attempts'> & {
  code: Pick<AppSettings['code'], 'length'>
  limits: Pick<AppSettings['limits'], 'recipient' | 'recipient_verify'>
}

const DAY_SECONDS = 86_400

/** A day of guessing may find a code of a recipient with a chance of at most one in this many. */
export const MIN_GUESS_ODDS = 1_000

/** The most guesses for one recipient in a day: every send can be guessed at until its attempts are spent, and the limit of wrong codes
 *  holds over all of them. It counts twice: first guesses that the lock lets through have a limit of their own with the same rules.
 *  Infinity if neither is limited. */
export const guessesPerDay = ({ verify_attempts, limits }: GuessSettings): number =>
  Math.min(allowedPerDay(limits.recipient) * verify_attempts, 2 * allowedPerDay(limits.recipient_verify))

export const exceedsGuessBudget = (settings: GuessSettings): boolean => guessesPerDay(settings) > guessBudget(settings)

/** The most guesses per recipient and day that a code of this length allows. */
export const guessBudget = ({ code }: GuessSettings): number => 10 ** code.length / MIN_GUESS_ODDS

/** The most that all rules together allow in any 24 hours. */
export const allowedPerDay = (rules: readonly LimitRule[]): number => mostIn(rules, DAY_SECONDS)
