// How many sign-in mails a user gets in an hour, over all processes. In: a user, and the browser for which a code is to be sent. Out: whether
// it may be sent. Anyone who knows an address can ask for codes to it, so a stranger can use up the mails that all browsers share. A browser
// in which the user has signed in before has some of its own, which no stranger can use up.
import type { Clock } from '../../../infra/clock.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { UserStore } from '../../domain/users/documents.ts'

/** A mail that was counted. */
export interface CountedMail {
  /** It was not sent after all. */
  giveBack(): Promise<void>
}

export interface MailLimit {
  /** Null when there are no mails left. `knownBrowser`: the id of the browser if the user has signed in there before. */
  take(userId: string, knownBrowser: string | null): Promise<CountedMail | null>
}

const MAX_MAILS = 20
const MAX_MAILS_OF_KNOWN_BROWSER = 5
const MAX_TRIES_AFTER_LOST_RACE = 20

export function createMailLimit({ store, clock }: { store: UserStore; clock: Pick<Clock, 'now'> }): MailLimit {
  const mails = store.docs('sign_in_mails')

  /** `next` answers the new times; null when nothing is to change. */
  async function change(_id: string, next: (times: number[], now: number) => number[] | null): Promise<boolean> {
    for (let race = 0; race < MAX_TRIES_AFTER_LOST_RACE; race += 1) {
      const now = clock.now()
      const stored = (await mails.get([_id])).get(_id)
      const times = next(
        (stored?.times ?? []).filter(at => at + HOUR_MS > now),
        now,
      )
      if (times === null) return false
      const fields = { times, purge_at: new Date(now + HOUR_MS) }
      const [outcome] = stored
        ? await mails.change([{ _id, rev: stored.rev, update: { $set: fields } }])
        : await mails.insert([{ _id, ...fields, rev: 0 }])
      if (outcome === 'won' || outcome === 'inserted') return true
    }
    throw new Unavailable('too many sign-in mails are counted at once')
  }

  async function takeFrom(id: string, max: number): Promise<CountedMail | null> {
    const isTaken = await change(id, (times, now) => (times.length < max ? [...times, now] : null))
    if (!isTaken) return null
    return { giveBack: async () => void (await change(id, times => times.slice(0, -1))) }
  }

  return {
    // Its own first, so that the shared ones are left for browsers that have none.
    take: async (userId, knownBrowser) =>
      (knownBrowser && (await takeFrom(knownBrowser, MAX_MAILS_OF_KNOWN_BROWSER))) || takeFrom(userId, MAX_MAILS),
  }
}
