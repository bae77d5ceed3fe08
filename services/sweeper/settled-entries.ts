// Writes into entries of the ledger which provider took their message, how many calls of providers accepted it, and of
// how many that is not known. In: entries of messages that are over. The ledger outlives verifications, and a reader who
// compares it with a vendor's invoice needs all three. It is written in the background, a batch at a time, and by no send. A company
// remembers how far its ledger is settled.

import type { Clock } from '../../infra/clock.ts'
import type { GroupUpdate } from '../../infra/store/docs.ts'
import { idsUnder } from '../../infra/store/store.ts'
import { HOUR_MS } from '../../infra/time.ts'
import { groupBy } from '../../machines/group-by.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { LedgerDoc } from '../domain/money/documents.ts'
import { type AttemptDoc, END_OF_ROUND } from '../domain/verifications/documents.ts'
import { createLedgerPass } from './ledger-passes.ts'
import type { Sweep } from './sweep.ts'

/** A code lives three hours at most, and no provider is called after that. It is shorter than any retention. */
export const SETTLE_AFTER_MS = 3 * HOUR_MS
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
  const ledger = store.docs('ledger')

  async function settle(entries: readonly LedgerDoc[]): Promise<void> {
    const ofMessages = entries.filter(({ otp_id, delivery_id }) => otp_id !== null && delivery_id !== null)
    if (ofMessages.length === 0) return
    const otps = await store.docs('otps').get([...new Set(ofMessages.map(({ otp_id }) => otp_id as string))])
    const providers = new Map(
      [...otps.values()].flatMap(otp =>
        toCurrentVersion(otp).context.deliveries.map(({ delivery_id, provider }) => [delivery_id, provider] as const),
      ),
    )
    const calls = await callsOf(ofMessages)
    const changes = ofMessages.map(({ _id, delivery_id }) => {
      const results = (calls.get(delivery_id as string) ?? []).map(({ result }) => result)
      const accepted = results.filter(result => result === 'accepted').length
      const unanswered = results.filter(result => result === null || result === 'unknown').length
      const provider = providers.get(delivery_id as string) ?? null
      return { _id, set: { provider, accepted, ...(unanswered > 0 ? { unanswered } : {}) } }
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
  async function callsOf(entries: readonly LedgerDoc[]): Promise<Map<string, AttemptDoc[]>> {
    const deliveries = [...new Set(entries.flatMap(({ delivery_id }) => delivery_id ?? []))]
    const calls: AttemptDoc[] = []
    for (let at = 0; at < deliveries.length; at += OWNERS_PER_QUERY) {
      const $or = deliveries.slice(at, at + OWNERS_PER_QUERY).map(idsUnder)
      const found = await store.docs('attempts').find({ $or }, { sort: { _id: 1 }, limit: MAX_CALLS_READ })
      calls.push(...found.filter(({ provider }) => provider !== END_OF_ROUND))
    }
    return groupBy(calls, call => call.delivery_id)
  }

  return {
    settled_entries: createLedgerPass(
      { store, clock },
      {
        afterMs: SETTLE_AFTER_MS,
        handledSeq: ({ settled_seq = 0 }) => settled_seq,
        async handle(entries) {
          await settle(entries)
          return { settled_seq: entries.at(-1)?.seq ?? 0 }
        },
      },
    ),
  }
}
