// Entries that were entered together, as they wait with their company. In: what is to be entered. Out: a batch, and the items it stands
// for. One thing to the store, however many there are: it is written, read and taken away again with every other write to the company.
import type { Account, Entry, EntryBatch, LedgerItem } from './documents.ts'

export interface BatchEntry {
  entry: Entry
  /** Of a hold. */
  room?: string | undefined
}

type PackedEntry = [
  Entry['entry'],
  Entry['kind'],
  number,
  string | null,
  string | null,
  string | null,
  ...room: string[],
]

export const packEntries = (batchEntries: readonly BatchEntry[]): string =>
  JSON.stringify(
    batchEntries.map(({ entry: { entry, kind, micros, otp_id, delivery_id, note }, room }): PackedEntry => {
      return [entry, kind, micros, otp_id, delivery_id, note, ...(room === undefined ? [] : [room])]
    }),
  )

export function itemsOf({ seq, balance, at, entries }: EntryBatch): LedgerItem[] {
  let after = balance
  return (JSON.parse(entries) as PackedEntry[]).map(([entry, kind, micros, otp_id, delivery_id, note, room], index) => {
    after += micros
    const own = { entry, kind, micros, otp_id, delivery_id, note, ...(room === undefined ? {} : { room }) }
    return { ...own, seq: seq + index, at, balance_after: after }
  })
}

export const waitingItems = ({ batches = [], waiting = [] }: Pick<Account, 'batches' | 'waiting'>): LedgerItem[] => [
  ...waiting,
  ...batches.flatMap(itemsOf),
]

/** Without those that have, or begin with, these numbers. */
export const withoutSeqs = (where: 'batches' | 'waiting', movedSeqs: readonly number[]) => ({
  $filter: { input: { $ifNull: [`$${where}`, []] }, cond: { $not: [{ $in: ['$$this.seq', [...movedSeqs]] }] } },
})

/** A company begins with this; its first entry, if there is one, is in it from the start. */
export function openAccount(company_id: string, balance: number, at: number): Account {
  const none = { otp_id: null, delivery_id: null, note: 'opening balance' }
  const first: Entry = { entry: `credit:opening:${company_id}`, kind: 'credit', micros: balance, ...none }
  const batches: EntryBatch[] = [{ seq: 1, balance: 0, at, entries: packEntries([{ entry: first }]) }]
  return balance === 0 ? { balance, seq: 0 } : { balance, seq: 1, batches, behind_at: at }
}
