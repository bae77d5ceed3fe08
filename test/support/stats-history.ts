// Statistics of an app over days, written as the sweeper leaves them. In: the app, and how many verifications there were in each hour and
// what became of them. Out: stored hours, and days where the hours are of earlier days.
import { HOUR_MS } from '../../infra/time.ts'
import type { Mode } from '../../machines/otp.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { approvalStep } from '../../services/domain/stats/approval-times.ts'
import { dayOf, hourOf, newTally, type Tally } from '../../services/domain/stats/contribution.ts'
import { addApproval, addCount, type Cell, cellOf } from '../../services/domain/stats/counts.ts'
import { PROGRESS_ID } from '../../services/domain/stats/documents.ts'
import { newDay, newHour } from '../../services/domain/stats/hours-and-days.ts'

/** Verifications of one hour that are alike. */
interface Traffic {
  channel: string
  /** `?` for none. */
  country: string
  provider: string
  started: number
  delivered: number
  /** Messages that no provider took yet, and that failed afterwards; none by default. The others have no receipt. */
  queued?: number
  messagesFailed?: number
  approved: number
  /** Until the approval of each. */
  seconds: number
}

interface HistoryOptions {
  app: string
  mode?: Mode
  now: number
  /** How many hours up to now. */
  hours: number
  /** Of the hour that begins at `start`, `ago` hours before the current one. */
  traffic(start: number, ago: number): Traffic[]
  refused?(start: number, ago: number): Record<string, number>
}

export async function addStatsHistory(store: CountersignStore, options: HistoryOptions): Promise<void> {
  const { app, mode = 'live', now, hours, traffic, refused = () => ({}) } = options
  const docs = Array.from({ length: hours }, (_, ago) => {
    const start = hourOf(now) - ago * HOUR_MS
    return newHour({ app_id: app, mode, start }, tallyOf(traffic(start, ago)), refused(start, ago))
  })
  await store.docs('stats_hours').insert(docs)
  const today = dayOf(now)
  const days = [...new Set(docs.map(({ start }) => dayOf(start)))].filter(start => start < today)
  const hoursOf = (day: number) => docs.filter(({ start }) => dayOf(start) === day)
  await store.docs('stats_days').insert(days.map(start => newDay({ app_id: app, mode, start }, hoursOf(start))))
  // The sweeper would count the hours again, and find none of these verifications.
  const progress = { next_hour: hourOf(now), next_day: today }
  await store
    .docs('stats_progress')
    .modify({ _id: PROGRESS_ID }, { $set: progress, $inc: { rev: 1 } }, { upsert: true })
}

function tallyOf(traffic: readonly Traffic[]): Tally {
  const tally = newTally()
  for (const one of traffic)
    for (const cell of [
      cellOf(tally.channel, one.channel),
      cellOf(tally.country, one.country),
      cellOf(tally.provider, one.provider),
    ])
      addTraffic(cell, one)
  for (const one of traffic)
    addTraffic(cellOf(tally.routes, `server ${one.channel} ${one.country} ${one.provider}`), one)
  return tally
}

function addTraffic(
  cell: Cell,
  { started, delivered, queued = 0, messagesFailed = 0, approved, seconds }: Traffic,
): void {
  addCount(cell, 'started', started)
  addCount(cell, 'sent', started - queued)
  addCount(cell, 'queued', queued)
  addCount(cell, 'delivered', delivered)
  addCount(cell, 'undelivered', messagesFailed)
  addCount(cell, 'approved', approved)
  addCount(cell, 'expired', started - approved)
  if (approved > 0) addApproval(cell, approvalStep(seconds * 1_000), approved)
}
