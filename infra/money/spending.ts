// What an app has spent on a country today, in UTC, and no more than its cap. Checking and counting are one atomic update, shared by
// all processes; what waits under one key goes together.
import { gatherByKey } from '../gather.ts'
import type { Doc, Docs } from '../store/docs.ts'

export interface SpendDoc extends Doc {
  spent: number
  /** Of the first delivery it counts: what was sent before has taken no room. */
  since: number
  purge_at: Date
}

export interface Expense {
  app_id: string
  /** Or whatever else has a cap of its own. */
  country: string
  /** When the delivery was made: its day is the one that pays. */
  at: number
  micros: number
}

export interface Spending {
  /** Whether it fits below the cap; then it is counted. */
  take(expense: Expense, cap: number): Promise<boolean>
  /** Of what was counted. */
  giveBack(expense: Expense): Promise<void>
}

const DAY_MS = 86_400_000
const MOST_KNOWN = 10_000
const TOGETHER = { most: 1_000, parallel: 1 }

export const endOfDay = (at: number): number => (Math.floor(at / DAY_MS) + 1) * DAY_MS

const idOf = ({ app_id, country, at }: Expense): string => `${app_id}:${country}:${Math.floor(at / DAY_MS)}`

export function spending(docs: Pick<Docs<SpendDoc>, 'insert' | 'modify'>): Spending {
  interface Ask {
    expense: Expense
    cap: number
  }

  const begun = new Set<string>()
  const fits = async (_id: string, micros: number, cap: number): Promise<boolean> =>
    (await docs.modify({ _id, spent: { $lte: cap - micros } }, { $inc: { spent: micros } })) !== null

  async function begin(_id: string, asks: readonly Ask[]): Promise<void> {
    const since = Math.min(...asks.map(({ expense }) => expense.at))
    await docs.insert([{ _id, spent: 0, since, purge_at: new Date(endOfDay(since) + 2 * DAY_MS) }])
    if (begun.size >= MOST_KNOWN) begun.clear()
    begun.add(_id)
  }

  /** All at once, if all of them fit; else one by one, as long as one that is no dearer than those that did not. */
  async function takeMany(asks: Ask[]): Promise<boolean[]> {
    const { expense, cap } = asks[0] as Ask
    const [_id, total] = [idOf(expense), asks.reduce((sum, ask) => sum + ask.expense.micros, 0)]
    if (await fits(_id, total, cap)) return asks.map(() => true)
    if (!begun.has(_id)) {
      await begin(_id, asks)
      if (await fits(_id, total, cap)) return asks.map(() => true)
    }
    let tooDear = Number.POSITIVE_INFINITY
    const taken: boolean[] = []
    for (const { micros } of asks.map(ask => ask.expense)) {
      const granted = micros < tooDear && (await fits(_id, micros, cap))
      if (!granted) tooDear = Math.min(tooDear, micros)
      taken.push(granted)
    }
    return taken
  }

  // Under another cap, because a setting has just changed, it is asked for apart.
  const take = gatherByKey(({ expense, cap }: Ask) => `${idOf(expense)}:${cap}`, takeMany, TOGETHER)
  return {
    take: (expense, cap) => take({ expense, cap }),
    async giveBack(expense) {
      const { at, micros } = expense
      await docs.modify(
        { _id: idOf(expense), since: { $lte: at }, spent: { $gte: micros } },
        { $inc: { spent: -micros } },
      )
    },
  }
}
