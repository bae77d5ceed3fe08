// How often something may be done in a stretch of time, over all processes. In: an id, and how many times. Out: whether it may be done once
// more; then it is counted.
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import type { RecentTimesDoc } from '../../domain/users/documents.ts'

export type TakenTime =
  /** `giveBack`: it was not done after all. */
  { kind: 'taken'; giveBack(): Promise<void> } | { kind: 'refused'; waitMs: number }

export interface RecentTimes {
  take(id: string, max: number): Promise<TakenTime>
}

export interface RecentTimesDeps {
  docs: Pick<Docs<RecentTimesDoc>, 'get' | 'insert' | 'change'>
  clock: Pick<Clock, 'now'>
  windowMs: number
}

export function createRecentTimes({ docs, clock, windowMs }: RecentTimesDeps): RecentTimes {
  /** `next` answers the new times, or a refusal, with which nothing changes. */
  const change = <R>(_id: string, next: (times: number[], now: number) => number[] | R): Promise<R | null> =>
    retryAfterLostRace('a count', async () => {
      const now = clock.now()
      const stored = await getOne(docs, _id)
      const times = next(
        (stored?.times ?? []).filter(at => at + windowMs > now),
        now,
      )
      if (!Array.isArray(times)) return times
      const fields = { times, purge_at: new Date(now + windowMs) }
      const [outcome] = stored
        ? await docs.change([{ _id, rev: stored.rev, update: { $set: fields } }])
        : await docs.insert([{ _id, ...fields, rev: 0 }])
      return outcome === 'won' || outcome === 'inserted' ? null : LOST
    })

  return {
    async take(id, max) {
      let at = 0
      const refused = await change(id, (times, now) => {
        at = now
        return times.length < max ? [...times, now] : { waitMs: (times[0] ?? now) + windowMs - now }
      })
      if (refused) return { kind: 'refused', ...refused }
      // Another may have been taken since. Its own time stays, or it would go out too early.
      const withoutOne = (times: number[]) => times.filter((_, nth) => nth !== times.indexOf(at))
      return { kind: 'taken', giveBack: async () => void (await change(id, withoutOne)) }
    },
  }
}
