// Writes into entries of the ledger which provider took their message, and into holds how many calls of providers
// accepted it. In: entries of messages that are over. The ledger outlives verifications, and a reader who compares it
// with a vendor's invoice needs both. It is written in the background, a batch at a time, and by no send. A company
// remembers how far its ledger is settled.
import type { Clock } from '../../infra/clock.ts'
import type { GroupUpdate } from '../../infra/store/docs.ts'
import { scanAll } from '../../infra/store/scan.ts'
import { HOUR_MS, MINUTE_MS } from '../../infra/time.ts'
import { groupBy } from '../../machines/group-by.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type LedgerDoc, ledgerId } from '../domain/money/documents.ts'
import { type AttemptDoc, ownedBy } from '../domain/verifications/documents.ts'
import { byOneProcess, SWEEP_BATCH, type Sweep } from './sweep.ts'

/** A code lives three hours at most, and no provider is called after that. It is shorter than any retention. */
export const SETTLE_AFTER_MS = 3 * HOUR_MS
const RUN_EVERY_MS = MINUTE_MS
const MAX_BATCHES_PER_RUN = 10
/** Messages whose calls are read in one query, and more calls than they can have. */
const OWNERS_PER_QUERY = 50
const MAX_CALLS_READ = 10_000

export function createSettleSweeps({
  store,
  clock,
}: {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
}): Record<string, Sweep> {
  const [companies, ledger] = [store.docs('companies'), store.docs('ledger')]
  let nextRunAt = 0

  /** The entries after `settled` that are old enough, without a gap. */
  async function nextEntries(company_id: string, settled: number): Promise<LedgerDoc[]> {
    const after = { company_id, _id: { $gt: ledgerId(company_id, settled) } }
    const found = await ledger.find(after, { sort: { _id: 1 }, limit: SWEEP_BATCH })
    const until = clock.now() - SETTLE_AFTER_MS
    const end = found.findIndex(({ seq, at }, nth) => seq !== settled + nth + 1 || at > until)
    return end === -1 ? found : found.slice(0, end)
  }

  async function settle(entries: readonly LedgerDoc[]): Promise<void> {
    const ofMessages = entries.filter(({ otp_id, delivery_id }) => otp_id !== null && delivery_id !== null)
    if (ofMessages.length === 0) return
    const otps = await store.docs('otps').get([...new Set(ofMessages.map(({ otp_id }) => otp_id as string))])
    const providers = new Map(
      [...otps.values()].flatMap(otp =>
        toCurrentVersion(otp).context.deliveries.map(({ delivery_id, provider }) => [delivery_id, provider] as const),
      ),
    )
    const accepted = await acceptedCalls(ofMessages)
    const changes = ofMessages.map(({ _id, kind, delivery_id }) => {
      const provider = providers.get(delivery_id as string) ?? null
      const calls = accepted.get(delivery_id as string) ?? 0
      return { _id, set: kind === 'hold' ? { provider, accepted: calls } : { provider } }
    })
    const updates = [...groupBy(changes, ({ set }) => JSON.stringify(set)).values()].map(
      (alike): GroupUpdate<LedgerDoc> => ({
        ids: alike.map(({ _id }) => _id),
        update: { $set: alike[0]?.set ?? {} },
      }),
    )
    await ledger.update(updates)
  }

  /** By delivery. */
  async function acceptedCalls(entries: readonly LedgerDoc[]): Promise<Map<string, number>> {
    const held = entries.flatMap(({ kind, delivery_id }) =>
      kind === 'hold' && delivery_id !== null ? [delivery_id] : [],
    )
    const accepted: AttemptDoc[] = []
    for (let at = 0; at < held.length; at += OWNERS_PER_QUERY) {
      const $or = held.slice(at, at + OWNERS_PER_QUERY).map(ownedBy)
      const calls = await store.docs('attempts').find({ $or }, { sort: { _id: 1 }, limit: MAX_CALLS_READ })
      accepted.push(...calls.filter(({ result }) => result === 'accepted'))
    }
    return new Map([...groupBy(accepted, call => call.delivery_id)].map(([id, of]) => [id, of.length]))
  }

  return {
    settled_entries: byOneProcess(async () => {
      if (clock.now() < nextRunAt) return 0
      let batchesLeft = MAX_BATCHES_PER_RUN
      for await (const { _id, seq, settled_seq = 0 } of scanAll(companies))
        for (let settled = settled_seq; settled < seq; ) {
          if (batchesLeft-- <= 0) return 0
          const entries = await nextEntries(_id, settled)
          const last = entries.at(-1)
          if (last === undefined) break
          await settle(entries)
          settled = last.seq
          await companies.modify({ _id }, { $max: { settled_seq: settled } })
        }
      nextRunAt = clock.now() + RUN_EVERY_MS
      return 0
    }),
  }
}
