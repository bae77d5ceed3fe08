// A share of the work is one sweeper's for a while: renewed as long as it lives, another's soon after it dies.
import type { Clock } from '../../infra/clock.ts'
import type { LeaseDoc } from '../../infra/leases.ts'
import { type Docs, Duplicate } from '../../infra/store/docs.ts'

export interface Leases {
  /** Whether `name` is ours for the next while. */
  hold(name: string): Promise<boolean>
  /** Lets go of everything, so that another need not wait. */
  release(): Promise<void>
}

const FOR_MS = 15_000
/** Renewed once no more than this is left, not every time it is asked for: many shares, looked at every second. */
const RENEW_MS = 10_000

export function leasing({ leases, clock, holder }: { leases: Docs<LeaseDoc>; clock: Clock; holder: string }): Leases {
  /** Until when. */
  const held = new Map<string, number>()
  const take = async (name: string, until: number): Promise<boolean> => {
    try {
      const mine = {
        $or: [
          { _id: name, holder },
          { _id: name, until: { $lte: clock.now() } },
        ],
      }
      if (await leases.modify(mine, { $set: { holder, until } })) return true
      const [answer] = await leases.insert([{ _id: name, holder, until }])
      return answer === 'inserted'
    } catch (error) {
      if (error instanceof Duplicate) return false
      throw error
    }
  }
  return {
    async hold(name) {
      const now = clock.now()
      if ((held.get(name) ?? 0) - now > RENEW_MS) return true
      const mine = await take(name, now + FOR_MS)
      if (mine) held.set(name, now + FOR_MS)
      else held.delete(name)
      return mine
    },
    async release() {
      await Promise.all([...held.keys()].map(name => leases.remove({ _id: name, holder }, 1)))
      held.clear()
    },
  }
}
