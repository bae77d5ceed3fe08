// Tidies up money that a process left when it died. Entries that still wait in a company's document are moved to the ledger. A hold whose
// process did not confirm its delivery is then checked once, after its send can no longer be under way: a hold without a delivery is
// voided.
import type { Clock } from '../../infra/clock.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import { type LedgerDoc, voidEntry } from '../domain/money/documents.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { byOneProcess, findDue, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface HoldSweepDeps {
  store: CountersignStore
  accounts: Pick<Accounts, 'enter' | 'flush'>
  clock: Pick<Clock, 'now'>
}

/** A live process moves its entries to the ledger well within this time, except holds that it cannot confirm. */
const LEDGER_BEHIND_MS = 10_000
const MARK_CHECKED = { $unset: { check_at: true, partition: true } } as const

export function createHoldSweeps({ store, accounts, clock }: HoldSweepDeps): Record<string, Sweep> {
  const [companies, ledger, otps] = [store.docs('companies'), store.docs('ledger'), store.docs('otps')]
  return {
    entries: byOneProcess(async () => {
      const behind = await companies.find(
        { behind_at: { $gt: 0, $lte: clock.now() - LEDGER_BEHIND_MS } },
        { sort: { behind_at: 1 }, limit: SWEEP_BATCH },
      )
      const flushed = await Promise.allSettled(behind.map(({ _id }) => accounts.flush(_id)))
      // All companies are flushed before a failure of one is reported.
      for (const one of flushed) if (one.status === 'rejected') throw one.reason
      return behind.length
    }),

    async holds(partitions) {
      const due = await findDue(ledger, partitions, 'check_at', clock.now())
      const otpsById = await otps.get([...new Set(due.flatMap(({ otp_id }) => otp_id ?? []))])
      const unconfirmed = due.filter(hold => !hasDelivery(hold, otpsById))
      // A primary of the store that was cut off may answer from before the verification was saved, so those are asked for again.
      const certain = await otps.get([...new Set(unconfirmed.flatMap(({ otp_id }) => otp_id ?? []))], { certain: true })
      await Promise.all(unconfirmed.filter(hold => !hasDelivery(hold, certain)).map(voidHold))
      await ledger.update([{ ids: due.map(({ _id }) => _id), update: MARK_CHECKED }])
      return due.length
    },
  }

  async function voidHold({ company_id, otp_id, delivery_id, micros }: LedgerDoc): Promise<void> {
    if (otp_id !== null && delivery_id !== null)
      await accounts.enter(company_id, voidEntry(otp_id, delivery_id, -micros))
  }
}

const hasDelivery = ({ otp_id, delivery_id }: LedgerDoc, otpsById: ReadonlyMap<string, OtpDoc>): boolean =>
  otpsById.get(otp_id ?? '')?.context.deliveries.some(one => one.delivery_id === delivery_id) ?? false
