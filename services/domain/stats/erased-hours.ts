// Marks the hours of verifications that are about to be erased. An hour that is marked is not counted again from its verifications, so that
// an erasure does not lower what was counted.
import type { OtpDoc } from '../verifications/documents.ts'
import { hourOf, newTally, startOf } from './contribution.ts'
import type { StatsDoc, StatsStore } from './documents.ts'
import { newHour } from './hours-and-days.ts'

/** The revision changes, so that a sweeper that is counting the hour again at this moment loses the race. */
const MARK = { $set: { erased: true as const }, $inc: { rev: 1 } }

export async function markErasedHours(store: StatsStore, otps: readonly OtpDoc[]): Promise<void> {
  const docs = store.docs('stats_hours')
  const byId = new Map<string, StatsDoc>()
  for (const otp of otps) {
    const hour = newHour({ app_id: otp.app_id, mode: otp.mode, start: hourOf(startOf(otp)) }, newTally(), {})
    byId.set(hour._id, { ...hour, erased: true })
  }
  const answers = await docs.update([{ ids: [...byId.keys()], update: MARK }])
  const missing = [...byId.values()].filter((_, at) => answers[at] === 'missing')
  const inserted = await docs.insert(missing)
  const ids = missing.filter((_, at) => inserted[at] === 'duplicate').map(({ _id }) => _id)
  if (ids.length > 0) await docs.update([{ ids, update: MARK }])
}
