// Refunds, and charges after them, that are not in the ledger although their deliveries say that they must be: their
// message was dropped as a dead letter, or lost. In: a verification. Out: its missing entries, made. An entry is known
// by its name, so one that is made here and by its message counts once.
import type { Logger } from '../../infra/log/log.ts'
import { TooManyRaces } from '../../infra/store/lost-race.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import type { Entry } from '../domain/money/documents.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { entriesOf } from '../domain/verifications/owed.ts'

export interface OwedEntryDeps {
  store: CountersignStore
  accounts: Pick<Accounts, 'enter' | 'find'>
  log: Pick<Logger, 'warn'>
}

/** Rejects only where the store is away: then it is called again. A company whose account is changed all the time keeps
 *  no other waiting. */
export function createEnterOwed({ store, accounts, log }: OwedEntryDeps): (otp: OtpDoc) => Promise<void> {
  /** The ledger is asked first: nearly all entries are there, and the company's document, where others wait, may be large. */
  async function missingOf({ _id, company_id, ...otp }: OtpDoc): Promise<Entry[]> {
    const owed = toCurrentVersion(otp).context.deliveries.flatMap(delivery => entriesOf(_id, delivery))
    if (owed.length === 0) return []
    const names = owed.map(({ entry }) => entry)
    const found = await store
      .docs('ledger')
      .find({ company_id, entry: { $in: names } }, { sort: { entry: 1 }, limit: names.length })
    const missing: Entry[] = []
    for (const one of owed.filter(({ entry }) => !found.some(known => known.entry === entry)))
      if ((await accounts.find(company_id, one.entry)) === undefined) missing.push(one)
    return missing
  }

  async function enterOwed(otp: OtpDoc): Promise<void> {
    if ((await missingOf(otp)).length === 0) return
    // A primary of the store that was cut off may know a change that was never confirmed.
    const certain = await getOne(store.docs('otps'), otp._id, { certain: true })
    for (const entry of certain ? await missingOf(certain) : []) {
      const { otp_id, delivery_id, kind } = entry
      // Its message may have come at the same moment.
      if ((await accounts.enter(otp.company_id, entry)) === 'entered')
        log.warn({ otp_id, delivery_id, kind }, 'ledger.entered_again')
    }
  }

  return otp =>
    enterOwed(otp).catch(error => {
      if (error instanceof Unavailable && !(error instanceof TooManyRaces)) throw error
      log.warn({ otp_id: otp._id, err: error }, 'ledger.not_entered_again')
    })
}
