// Money as it is stored: a company's balance, the ledger of the entries that led to it. Prices: prices.ts.
import { SWEPT } from '../../../infra/partitions.ts'
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { type CollectionSpec, collection, type StoreOf } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'
import { PRICE_COLLECTIONS } from './prices.ts'

/** `hold`: a delivery was accepted. `refund`: the delivery failed. `void`: the delivery was never made;
 *  with 0, it was erased, and stays paid. `recharge`: the code of a refunded delivery was entered, so it is charged again. */
export type EntryKind = 'credit' | 'hold' | 'refund' | 'void' | 'recharge'

/** What a message was, so that its price can be explained once its verification is gone. */
export interface PaidMessage {
  app_id: string
  channel: Channel
  country: string | null
}

export interface Entry {
  /** Names the fact. An entry of the same name counts once in its company. */
  entry: string
  kind: EntryKind
  /** Signed, in micro-units. An entry that would take the balance below zero is refused, unless it is a recharge: an approval is never
   *  refused for money. */
  micros: number
  otp_id: string | null
  delivery_id: string | null
  note: string | null
  /** The API key whose send it was, or the person who credited or tested. Null for refunds and the like, for which there was no request. */
  by: string | null
  /** Null for a credit. An entry that follows the hold of its delivery gets that of the hold when it is entered. */
  message: PaidMessage | null
}

/** An entry in its place in the ledger: `seq` counts an account's entries from 1, without a gap. */
export interface LedgerItem extends Entry {
  seq: number
  at: number
  balance_after: number
  /** The spend cap that a hold counts against. A refund or void of the hold is deducted there again,
   *  and a recharge is added. */
  cap_key?: string
}

/** Entries that were entered in one write. */
export interface EntryBatch {
  /** The number of the first entry. */
  seq: number
  /** The balance before the first entry. */
  balance: number
  at: number
  /** All entries as one text, which batches.ts packs and unpacks. */
  entries: string
}

/** The money in a company's document. The balance and the entries that led to it change in one write. Entries wait here in batches until
 *  they are in the ledger, so every entry is in at least one of the two. */
export interface Account {
  balance: number
  /** The number of the last entry. */
  seq: number
  batches: EntryBatch[]
  /** Counts the writes of entries that were first looked for in the ledger. Such a write is conditional on it, so of two processes that
   *  find the same entry missing, one loses and looks again. */
  looked_up: number
  /** When the oldest batch was entered; absent without one. Old ones were left by a process that died, and the sweeper moves them to the
   *  ledger. */
  behind_at?: number
  /** The last entry of which the ledger says which provider took its message; absent before the first. */
  settled_seq?: number
  /** The last entry that is counted in the statistics, and the latest time of it and those before it; absent before the first. */
  counted_seq?: number
  counted_at?: number
  /** What was spent below spend caps, by `capKey`. */
  spent: Record<string, number>
}

export type AccountDoc = Account & RevisedDoc

export interface LedgerDoc extends LedgerItem, RevisedDoc {
  company_id: string
  /** When the sweeper checks that a hold has its delivery; absent if it was known when the hold came to the ledger, and once it has been
   *  checked. */
  check_at?: number
  partition?: number
  /** The provider that took the message of the entry; null where none did. Absent until it is settled: settled-entries.ts. */
  provider?: string | null
  /** How many calls of providers accepted its message. Settled with the provider, like the next. */
  accepted?: number
  /** How many calls of providers had no answer, so that they may have accepted it; absent where none. */
  unanswered?: number
}

/** Ids sort by the entries' numbers within a company. */
export const ledgerId = (company_id: string, seq: number): string => `${company_id}:${String(seq).padStart(15, '0')}`

export const creditEntry = (entry: string, credit: Pick<Entry, 'micros' | 'note' | 'by'>): Entry => ({
  entry,
  kind: 'credit',
  otp_id: null,
  delivery_id: null,
  message: null,
  ...credit,
})

/** What a message costs, and who pays for it. */
export type HeldMessage = Pick<Entry, 'otp_id' | 'by'> & { delivery_id: string; micros: number; message: PaidMessage }

export const holdEntry = ({ otp_id, delivery_id, micros, by, message }: HeldMessage): Entry => ({
  entry: `hold:${delivery_id}`,
  kind: 'hold',
  micros: -micros,
  otp_id,
  delivery_id,
  note: null,
  by,
  message,
})

/** A test of a provider has no verification. The hold is not checked by the sweeper: a test that was cut off may have been sent. */
export const testHoldEntry = (provider: string, held: Omit<HeldMessage, 'otp_id'>): Entry => ({
  ...holdEntry({ ...held, otp_id: null }),
  note: `test of the provider ${provider}`,
})

/** The delivery failed. `refundEntry` and `voidEntry` name the same fact, so one hold is given back at most once. */
export const refundEntry = (otp_id: string | null, delivery_id: string, micros: number): Entry => ({
  entry: `back:${delivery_id}`,
  kind: 'refund',
  micros,
  otp_id,
  delivery_id,
  note: null,
  by: null,
  message: null,
})

/** The delivery was sent and its verification erased since. This entry of 0 keeps the hold from being voided. */
export const keepHoldEntry = (otp_id: string, delivery_id: string): Entry => ({
  ...voidEntry(otp_id, delivery_id, 0),
  note: 'erased, and stays paid',
})

export const voidEntry = (otp_id: string, delivery_id: string, micros: number): Entry => ({
  ...refundEntry(otp_id, delivery_id, micros),
  kind: 'void',
})

/** Follows the refund of the same delivery. */
export const rechargeEntry = (otp_id: string, delivery_id: string, micros: number): Entry => ({
  entry: `${delivery_id}:recharge`,
  kind: 'recharge',
  micros: -micros,
  otp_id,
  delivery_id,
  note: null,
  by: null,
  message: null,
})

export const MONEY_COLLECTIONS = {
  ...PRICE_COLLECTIONS,
  ledger: collection<LedgerDoc>({
    belongsTo: [{ to: null, why: 'the books: an entry outlives its company' }],
    indexes: [
      { fields: { company_id: 1, _id: -1 } },
      { fields: { company_id: 1, entry: 1 }, unique: true },
      { fields: { partition: 1, check_at: 1 }, partial: { check_at: { $gt: 0 } }, scatter: SWEPT },
    ],
    // The one collection that is not divided by its id: a unique index must begin with the shard key, and the entry is what must be unique.
    sharding: {
      key: { company_id: 1, entry: 1 },
      byId: { asker: 'sweeper', why: 'holds that no process confirmed, when they are checked' },
    },
  }),
}

/** An account is a part of its company's document. */
export type MoneyStore = StoreOf<typeof MONEY_COLLECTIONS & { companies: CollectionSpec<AccountDoc> }>
