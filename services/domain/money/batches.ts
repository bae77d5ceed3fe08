// Batches of entries, as they wait in the company's document. In: entries. Out: a batch, and the ledger items it stands for. A batch
// is one text, however many entries it has: the store copies it with every write of the company's document.
import type { Channel } from '../../../machines/channels.ts'
import { type Account, creditEntry, type Entry, type EntryBatch, type LedgerItem } from './documents.ts'

export interface BatchEntry {
  entry: Entry
  /** The spend cap that a hold counts against. */
  cap_key?: string | undefined
}

type PackedEntry = [
  Entry['entry'],
  Entry['kind'],
  number,
  string | null,
  string | null,
  string | null,
  string | null,
  [app_id: string, channel: Channel, country: string | null] | null,
  ...cap_key: string[],
]

export const packEntries = (batchEntries: readonly BatchEntry[]): string =>
  JSON.stringify(
    batchEntries.map(
      ({ entry: { entry, kind, micros, otp_id, delivery_id, note, by, message }, cap_key }): PackedEntry => {
        const packed: PackedEntry[7] = message && [message.app_id, message.channel, message.country]
        return [entry, kind, micros, otp_id, delivery_id, note, by, packed, ...(cap_key === undefined ? [] : [cap_key])]
      },
    ),
  )

export function itemsOf({ seq, balance, at, entries }: EntryBatch): LedgerItem[] {
  let balance_after = balance
  return (JSON.parse(entries) as PackedEntry[]).map(
    ([entry, kind, micros, otp_id, delivery_id, note, by, packed, cap_key], index) => {
      balance_after += micros
      const message = packed && { app_id: packed[0], channel: packed[1], country: packed[2] }
      const own = { entry, kind, micros, otp_id, delivery_id, note, by, message }
      return { ...own, ...(cap_key === undefined ? {} : { cap_key }), seq: seq + index, at, balance_after }
    },
  )
}

/** The items that are not known to be in the ledger yet. */
export const waitingItems = ({ batches }: Pick<Account, 'batches'>): LedgerItem[] => batches.flatMap(itemsOf)

/** An expression: the batches of the document, without those whose first numbers are given. */
export const batchesWithout = (movedSeqs: readonly number[]) => ({
  $filter: { input: '$batches', cond: { $not: [{ $in: ['$$this.seq', [...movedSeqs]] }] } },
})

/** A stage of an update, after the batches have changed: the account is behind since its oldest batch. A busy account always has some
 *  batch, but not the same one for long. */
export const UPDATE_BEHIND_AT = { $set: { behind_at: { $ifNull: [{ $min: '$batches.at' }, '$$REMOVE'] } } }

/** The account of a new company. An opening balance is its first entry. */
export function openAccount(company_id: string, balance: number, at: number): Account {
  const empty: Account = { balance: 0, seq: 0, batches: [], looked_up: 0, spent: {} }
  if (balance === 0) return empty
  const note = 'opening balance'
  const opening = creditEntry(`credit:opening:${company_id}`, { micros: balance, note, by: null })
  const batch: EntryBatch = { seq: 1, balance: 0, at, entries: packEntries([{ entry: opening }]) }
  return { ...empty, balance, seq: 1, batches: [batch], behind_at: at }
}
