// Money as it is stored: a company's balance, and the entries that made it what it is.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { type CollectionSpec, collection, type StoreOf } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'

/** `hold`: a delivery was accepted. `refund`: it failed in the end. `void`: it was held for and never came to be. */
export type EntryKind = 'credit' | 'hold' | 'refund' | 'void'

/** What somebody wants to be entered. */
export interface Entry {
  /** Names the fact: entered twice, it counts once. */
  entry: string
  kind: EntryKind
  /** Signed, micro-units. What would take the balance below zero is not entered. */
  micros: number
  otp_id: string | null
  delivery_id: string | null
  note: string | null
}

/** An entry in its place: `seq` counts an account's entries from 1, without a gap. */
export interface LedgerItem extends Entry {
  seq: number
  at: number
  balance_after: number
  /** Of a hold that took room below a cap: where. It is given back with the hold. */
  room?: string
}

/** Entries that were entered together: what the first of them found, and all of them as text (batches.ts). */
export interface EntryBatch {
  /** Of the first. */
  seq: number
  /** Before it. */
  balance: number
  at: number
  entries: string
}

/** What a company's document says of its money. The balance and the entries that led to it change in one write; entries wait here
 *  until they are in the ledger: all that was ever entered is in one of the two.
 *
 *  The release before there were batches writes to it too while processes are replaced one by one. It moves what is in `waiting`, so
 *  there is never a batch; and it writes the balance it has counted out, if `rev` is as it read it, so every write raises that. */
export interface Account {
  balance: number
  seq?: number
  batches?: EntryBatch[]
  /** Left one by one, by the release before. */
  waiting?: LedgerItem[]
  /** Raised by whatever is entered only if it was not before: of two who look and find nothing, one looks again. */
  looked_up?: number
  /** Since when some have been waiting, as far as is known: they move on within moments, or were left by a process that died. */
  behind_at?: number
  /** What was spent below caps, by `roomKey`. */
  spent?: Record<string, number>
}

export type AccountDoc = Account & RevisedDoc

export interface LedgerDoc extends LedgerItem, RevisedDoc {
  company_id: string
  /** Of a hold, until its delivery was seen: when to look for it, and whose share that is. */
  check_at?: number
  partition?: number
}

/** By number within the company, so that a list of ids is a list in their order. */
export const ledgerId = (company_id: string, seq: number): string => `${company_id}:${String(seq).padStart(15, '0')}`

export const holdEntry = (otp_id: string, delivery_id: string, micros: number): Entry => ({
  entry: `hold:${delivery_id}`,
  kind: 'hold',
  micros: -micros,
  otp_id,
  delivery_id,
  note: null,
})

/** The delivery failed. It and `voidOf` share a name: of one hold no more than one is given back. */
export const refundEntry = (otp_id: string, delivery_id: string, micros: number): Entry => ({
  entry: `back:${delivery_id}`,
  kind: 'refund',
  micros,
  otp_id,
  delivery_id,
  note: null,
})

/** It is over and done with, though nobody will find its verification any more: what it cost is kept. */
export const keepHoldEntry = (otp_id: string, delivery_id: string): Entry => ({
  ...voidEntry(otp_id, delivery_id, 0),
  note: 'erased after it was sent',
})

export const voidEntry = (otp_id: string, delivery_id: string, micros: number): Entry => ({
  ...refundEntry(otp_id, delivery_id, micros),
  kind: 'void',
})
export interface Price extends Doc {
  channel: Channel
  /** ISO 3166-1 alpha-2, or `*`: every country without a price of its own. */
  country: string
  micros: number
}

export const priceId = (channel: Channel, country: string): string => `${channel}:${country}`

export const MONEY_COLLECTIONS = {
  prices: collection<Price>({ indexes: [] }),
  ledger: collection<LedgerDoc>({
    indexes: [
      { fields: { company_id: 1, _id: -1 } },
      { fields: { entry: 1 }, unique: true },
      { fields: { partition: 1, check_at: 1 }, partial: { check_at: { $gt: 0 } } },
    ],
  }),
}

/** Money lies in the documents of the companies. */
export type MoneyStore = StoreOf<typeof MONEY_COLLECTIONS & { companies: CollectionSpec<AccountDoc> }>
