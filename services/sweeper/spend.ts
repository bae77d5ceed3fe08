// Counts the entries of the ledger in the statistics of their app: what messages cost, by hour and day, channel and country. The ledger is
// the one source, so the statistics cannot disagree with it: a tally of verifications would count what they say of charges, at the time at
// which they began, and lose what is erased. Each entry is counted once: a document says up to which it has counted them.
import type { Clock } from '../../infra/clock.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { LedgerDoc } from '../domain/money/documents.ts'
import { addToDocuments } from '../domain/stats/add-to-documents.ts'
import { dayOf, hourOf, newTally } from '../domain/stats/contribution.ts'
import { NONE } from '../domain/stats/counts.ts'
import type { Spend, StatsDoc } from '../domain/stats/documents.ts'
import { newDay, newHour, type StatsOwner } from '../domain/stats/hours-and-days.ts'
import { createLedgerPass } from './ledger-passes.ts'
import type { Sweep } from './sweep.ts'

/** An entry of a message, and when it counts. */
interface Counted extends LedgerDoc {
  countedAt: number
}

/** The entries of one hour or day. */
interface Waiting {
  owner: StatsOwner
  entries: Counted[]
}

export function createSpendSweeps(deps: { store: CountersignStore; clock: Pick<Clock, 'now'> }): Record<string, Sweep> {
  const { store } = deps

  async function addEntries(
    entries: readonly Counted[],
    collection: 'stats_hours' | 'stats_days',
    startOf: (at: number) => number,
    fresh: (owner: StatsOwner) => StatsDoc,
  ): Promise<void> {
    const waiting = new Map<string, Waiting>()
    for (const entry of entries) {
      if (entry.message === null || entry.micros === 0) continue
      const owner = { app_id: entry.message.app_id, mode: 'live' as const, start: startOf(entry.countedAt) }
      const { _id } = fresh(owner)
      const known = waiting.get(_id) ?? { owner, entries: [] }
      known.entries.push(entry)
      waiting.set(_id, known)
    }
    await addToDocuments('what messages cost', waiting, {
      docs: store.docs(collection),
      fresh: one => ({ ...fresh(one.owner), spend: addSpend(undefined, one.entries) }),
      changed: ({ spend }, one) => ({ spend: addSpend(spend, one.entries) }),
    })
  }

  return {
    spend: createLedgerPass(deps, {
      afterMs: 0,
      handledSeq: ({ counted_seq = 0 }) => counted_seq,
      async handle(entries, { counted_at = 0 }) {
        let latest = counted_at
        // Clocks of processes differ. An entry counts at the latest time so far: so a month of the statistics is that of the statement.
        const counted = entries.map(entry => {
          latest = Math.max(latest, entry.at)
          return { ...entry, countedAt: latest }
        })
        await addEntries(counted, 'stats_hours', hourOf, owner => newHour(owner, newTally(), {}))
        await addEntries(counted, 'stats_days', dayOf, owner => newDay(owner, []))
        return { counted_seq: entries.at(-1)?.seq ?? 0, counted_at: latest }
      },
    }),
  }
}

function addSpend(spend: Spend = NO_SPEND, entries: readonly Counted[]): Spend {
  const sum = { seq: spend.seq, channel: { ...spend.channel }, country: { ...spend.country } }
  for (const { seq, micros, message } of entries) {
    if (seq <= spend.seq || message === null) continue
    sum.seq = seq
    for (const [of, value] of [
      [sum.channel, message.channel],
      [sum.country, message.country ?? NONE],
    ] as const)
      of[value] = (of[value] ?? 0) - micros
  }
  return sum
}

const NO_SPEND: Spend = { seq: 0, channel: {}, country: {} }
