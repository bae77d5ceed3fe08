// How many sign-in mails a mailbox gets in an hour, over all processes. In: the address of a user, and the browser for
// which a code is to be sent. Out: whether it may be sent. All spellings of a mailbox count together: a company could
// invite a person in many of them. Anyone who knows an address can ask for codes to it, so a stranger can use up the
// mails that all browsers share. A browser in which the user has signed in before has some of its own, which no
// stranger can use up.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import type { UserStore } from '../../domain/users/documents.ts'
import { mailboxOf } from '../../domain/verifications/mailbox.ts'
import { createRecentTimes } from './recent-times.ts'

/** A mail that was counted. */
export interface CountedMail {
  /** It was not sent after all. */
  giveBack(): Promise<void>
}

export interface MailLimit {
  /** Null when there are no mails left. `knownBrowser`: the id of the browser if the user has signed in there before. */
  take(email: string, knownBrowser: string | null): Promise<CountedMail | null>
}

export interface MailLimitDeps {
  store: UserStore
  keyring: Pick<Keyring, 'index'>
  clock: Pick<Clock, 'now'>
}

const MAX_MAILS = 20
const MAX_MAILS_OF_KNOWN_BROWSER = 5

export function createMailLimit({ store, keyring, clock }: MailLimitDeps): MailLimit {
  const mails = createRecentTimes({ docs: store.docs('sign_in_mails'), clock, windowMs: HOUR_MS })
  const takeFrom = async (id: string, max: number): Promise<CountedMail | null> => {
    const taken = await mails.take(id, max)
    return taken.kind === 'taken' ? taken : null
  }
  return {
    // Its own first, so that the shared ones are left for browsers that have none.
    take: async (email, knownBrowser) =>
      (knownBrowser && (await takeFrom(knownBrowser, MAX_MAILS_OF_KNOWN_BROWSER))) ||
      takeFrom(keyring.index('sign-in mails', mailboxOf(email)), MAX_MAILS),
  }
}
