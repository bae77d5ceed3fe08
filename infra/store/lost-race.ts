// A change that reads, decides and writes on the condition that nothing changed in between. In: one try. Out: its answer. After a lost race
// it is tried again: another process has made progress then.
import { Unavailable } from '../unavailable.ts'

/** What a try answers when another process was first. */
export const LOST = Symbol('lost race')

export class TooManyRaces extends Unavailable {}

const MAX_TRIES_AFTER_LOST_RACE = 20

/** `what`: is changed, for the error. */
export async function retryAfterLostRace<T>(
  what: string,
  attempt: () => Promise<T | typeof LOST>,
  maxTries = MAX_TRIES_AFTER_LOST_RACE,
): Promise<T> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const answer = await attempt()
    if (answer !== LOST) return answer
  }
  throw new TooManyRaces(`too many changes of ${what} at once`)
}
