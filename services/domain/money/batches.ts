// Entries that were entered together, as they wait with their company. In: what is to be entered. Out: a batch, and the items it stands
// for. One thing to the store, however many there are: it is written, read and taken away again with every other write to the company.
import type { Account, Batch, Entry, LedgerItem } from './documents.ts'

export interface Placing {
  entry: Entry
  /** Of a hold. */
  room?: string | undefined
}

type Packed = [Entry['entry'], Entry['kind'], number, string | null, string | null, string | null, ...room: string[]]

export const packed = (placing: readonly Placing[]): string =>
  JSON.stringify(
    placing.map(({ entry: { entry, kind, micros, otp_id, delivery_id, note }, room }): Packed => {
      return [entry, kind, micros, otp_id, delivery_id, note, ...(room === undefined ? [] : [room])]
    }),
  )

export function itemsOf({ seq, balance, at, entries }: Batch): LedgerItem[] {
  let after = balance
  return (JSON.parse(entries) as Packed[]).map(([entry, kind, micros, otp_id, delivery_id, note, room], nth) => {
    after += micros
    const own = { entry, kind, micros, otp_id, delivery_id, note, ...(room === undefined ? {} : { room }) }
    return { ...own, seq: seq + nth, at, balance_after: after }
  })
}

export const waitingItems = ({ batches = [], waiting = [] }: Pick<Account, 'batches' | 'waiting'>): LedgerItem[] => [
  ...waiting,
  ...batches.flatMap(itemsOf),
]

/** Without those that have, or begin with, these numbers. */
export const without = (where: 'batches' | 'waiting', gone: readonly number[]) => ({
  $filter: { input: { $ifNull: [`$${where}`, []] }, cond: { $not: [{ $in: ['$$this.seq', [...gone]] }] } },
})

/** A company begins with this; its first entry, if there is one, is in it from the start. */
export function opened(company_id: string, balance: number, at: number): Account {
  const none = { otp_id: null, delivery_id: null, note: 'opening balance' }
  const first: Entry = { entry: `credit:opening:${company_id}`, kind: 'credit', micros: balance, ...none }
  const batches: Batch[] = [{ seq: 1, balance: 0, at, entries: packed([{ entry: first }]) }]
  return balance === 0 ? { balance, seq: 0 } : { balance, seq: 1, batches, behind_at: at }
}
