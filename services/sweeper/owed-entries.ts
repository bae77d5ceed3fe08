// Refunds, and charges after them, that are not in the ledger although their deliveries say that they must be: their message was dropped as a
// dead letter, or lost. In: a verification. Out: its missing entries, made. An entry is known by its name, so one that is made here and by its
// message counts once.
import type { Logger } from '../../infra/log/log.ts'
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
  accounts: Pick<Accounts, 'enter' | 'knows'>
  log: Pick<Logger, 'warn'>
}

/** Rejects only where the store is away: then it is called again. */
export function createEnterOwed({ store, accounts, log }: OwedEntryDeps): (otp: OtpDoc) => Promise<void> {
  async function missingOf(otp: OtpDoc): Promise<Entry[]> {
    const { deliveries } = toCurrentVersion(otp).context
    const missing: Entry[] = []
    for (const entry of deliveries.flatMap(delivery => entriesOf(otp._id, delivery)))
      if (!(await accounts.knows(otp.company_id, entry.entry))) missing.push(entry)
    return missing
  }

  async function enterOwed(otp: OtpDoc): Promise<void> {
    if ((await missingOf(otp)).length === 0) return
    // A primary of the store that was cut off may know a change that was never confirmed.
    const certain = await getOne(store.docs('otps'), otp._id, { certain: true })
    for (const entry of certain ? await missingOf(certain) : []) {
      await accounts.enter(otp.company_id, entry)
      log.warn({ otp_id: otp._id, delivery_id: entry.delivery_id, kind: entry.kind }, 'ledger.entered_again')
    }
  }

  return otp =>
    enterOwed(otp).catch(error => {
      if (error instanceof Unavailable) throw error
      log.warn({ otp_id: otp._id, err: error }, 'ledger.not_entered_again')
    })
}
