// Decides which entries the balance and the spend caps allow, and makes the write that enters them. In: entries, and the account as it was
// read, if it was. Out: an answer for each entry, and a filter and an update for the company's document. Pure. The update adds to the
// account as it is at the time of the write, and the filter requires that all entries still fit. So entries of other processes in between
// do not make the write fail, as long as there is enough for all.
import type { Filter, Pipeline } from '../../../infra/store/docs.ts'
import { isExpiredKey, type SpendCap } from '../../../machines/spend-caps.ts'
import { batchesWithout, packEntries, UPDATE_BEHIND_AT } from './batches.ts'
import type { Account, AccountDoc, Entry, EntryBatch, LedgerItem } from './documents.ts'

/** `known`: an entry of this name was entered before. `short`: the balance is too small, or would exceed what a number counts exactly.
 *  `capped`: a spend cap does not allow it. */
export type EnterResult = 'entered' | 'known' | 'short' | 'capped'

export interface EntryRequest {
  entry: Entry
  /** The spend cap that a hold counts against. */
  cap?: SpendCap | undefined
}

/** An entry that is allowed. */
export interface BookedEntry {
  entry: Entry
  /** What it adds to the money spent below a cap; negative for a refund or void. */
  spend?: { key: string; micros: number; limit: number }
}

/** Entries that were entered before, by name. */
export type KnownEntries = ReadonlyMap<string, Pick<LedgerItem, 'cap_key'> & Partial<Pick<LedgerItem, 'message'>>>

export function book(
  { balance, spent }: Pick<Account, 'balance' | 'spent'>,
  requests: readonly EntryRequest[],
  known: KnownEntries,
): { booked: BookedEntry[]; answers: EnterResult[] } {
  const booked: BookedEntry[] = []
  const seen = new Set(known.keys())
  const spentByKey = new Map(Object.entries(spent))
  let left = balance
  const answers = requests.map((one): EnterResult => {
    const entry = withMessageOfHold(one.entry, known)
    if (seen.has(entry.entry)) return 'known'
    const spend = spendOf(one, known)
    const after = (spentByKey.get(spend?.key ?? '') ?? 0) + (spend?.micros ?? 0)
    if (spend && spend.micros > 0 && after > spend.limit) return 'capped'
    // Beyond MAX_SAFE_INTEGER, adding a micro-unit might change nothing.
    if ((needsFunds(entry) && left + entry.micros < 0) || !Number.isSafeInteger(left + entry.micros)) return 'short'
    seen.add(entry.entry)
    left += entry.micros
    // The counts of past days are deleted, so a refund of a past day's hold is deducted nowhere, and a recharge added nowhere.
    const counts = spend && (entry.kind === 'hold' || spentByKey.has(spend.key))
    if (counts) spentByKey.set(spend.key, after)
    booked.push({ entry, ...(counts ? { spend } : {}) })
    return 'entered'
  })
  return { booked, answers }
}

/** What a message was is told by its hold. */
const withMessageOfHold = (entry: Entry, known: KnownEntries): Entry =>
  entry.message ? entry : { ...entry, message: known.get(`hold:${entry.delivery_id}`)?.message ?? null }

/** A recharge may overdraw. After it, what gives money back must not be refused because the balance is still below zero. */
const needsFunds = ({ kind, micros }: Entry): boolean => micros < 0 && kind !== 'recharge'

/** Only a hold is refused by a cap; the entries that follow it count against the same cap. */
export function spendOf({ entry, cap }: EntryRequest, known: KnownEntries): BookedEntry['spend'] {
  if (cap) return { ...cap, micros: -entry.micros }
  const key = known.get(`hold:${entry.delivery_id}`)?.cap_key
  return key === undefined || entry.kind === 'hold'
    ? undefined
    : { key, micros: -entry.micros, limit: Number.POSITIVE_INFINITY }
}

export interface AccountWriteInput {
  /** The account's `looked_up` as it was read. The write then fails if entries other than holds were entered since; absent for holds. */
  lookedUp?: number
  /** The account as it was read; null when the write is made without reading. */
  account: Pick<Account, 'spent'> | null
  /** The first numbers of batches that are in the ledger. */
  movedSeqs: readonly number[]
  now: number
}

export function accountWrite(
  company_id: string,
  booked: readonly BookedEntry[],
  { lookedUp, account, movedSeqs, now }: AccountWriteInput,
): { filter: Filter<AccountDoc>; update: Pipeline } {
  const { total, needed, lowest, highest, entries } = totalsOf(booked)
  const spends = spendByKey(booked)
  const expiredKeys = Object.keys(account?.spent ?? {}).filter(key => isExpiredKey(key, now))
  const filter: Filter<AccountDoc> = {
    _id: company_id,
    balance: {
      $gte: Math.max(needed, Number.MIN_SAFE_INTEGER - lowest),
      $lte: Number.MAX_SAFE_INTEGER - highest,
    },
    ...(lookedUp === undefined ? {} : { looked_up: lookedUp }),
    ...Object.fromEntries(spends.flatMap(spend => capFilter(spend, account))),
  }
  // A literal, because a note may look like an expression.
  const batch = { seq: { $add: ['$seq', 1] }, balance: '$balance', at: now, entries: { $literal: entries } }
  const $set = {
    balance: { $add: ['$balance', total] },
    seq: { $add: ['$seq', booked.length] },
    batches: { $concatArrays: [batchesWithout(movedSeqs), [batch]] },
    ...(lookedUp === undefined ? {} : { looked_up: lookedUp + 1 }),
    ...Object.fromEntries(spends.map(({ key, micros }) => [`spent.${key}`, incrementSpent(key, micros)])),
  }
  return {
    filter,
    update: [
      { $set },
      UPDATE_BEHIND_AT,
      ...(expiredKeys.length > 0 ? [{ $unset: expiredKeys.map(key => `spent.${key}`) }] : []),
    ],
  }
}

/** The batch that the write has entered, given the account after the write. */
export function enteredBatch(
  booked: readonly BookedEntry[],
  after: Pick<Account, 'balance' | 'seq'>,
  at: number,
): EntryBatch {
  const { total, entries } = totalsOf(booked)
  return { seq: after.seq - booked.length + 1, balance: after.balance - total, at, entries }
}

/** The sum of all entries, the balance that they need, how far it falls and rises on the way, and the entries as text. */
function totalsOf(booked: readonly BookedEntry[]) {
  let [total, needed, lowest, highest] = [0, Number.NEGATIVE_INFINITY, 0, 0]
  for (const { entry } of booked) {
    total += entry.micros
    if (needsFunds(entry)) needed = Math.max(needed, -total)
    lowest = Math.min(lowest, total)
    highest = Math.max(highest, total)
  }
  const entries = packEntries(
    booked.map(({ entry, spend }) => ({ entry, ...(entry.kind === 'hold' && spend ? { cap_key: spend.key } : {}) })),
  )
  return { total, needed, lowest, highest, entries }
}

/** What all entries of a write spend below one cap. */
interface KeySpend {
  key: string
  micros: number
  /** What may have been spent before the first entry, so that every entry stays below its own limit. */
  limitBefore: number
}

function spendByKey(booked: readonly BookedEntry[]): KeySpend[] {
  const spends = new Map<string, KeySpend>()
  for (const { spend } of booked) {
    if (!spend) continue
    const { key, micros, limit } = spend
    const before = spends.get(key)
    const sum = (before?.micros ?? 0) + micros
    spends.set(key, { key, micros: sum, limitBefore: Math.min(before?.limitBefore ?? limit, limit - sum) })
  }
  return [...spends.values()]
}

/** `$lte` does not match a missing member, which is what the first entry of a day finds. */
function capFilter({ key, micros, limitBefore }: KeySpend, account: AccountWriteInput['account']): [string, object][] {
  if (micros <= 0 || limitBefore === Number.POSITIVE_INFINITY) return []
  const isFirst = account !== null && account.spent[key] === undefined
  return [[`spent.${key}`, isFirst ? { $exists: false } : { $lte: limitBefore }]]
}

const incrementSpent = (key: string, micros: number) => ({
  $max: [0, { $add: [{ $ifNull: [`$spent.${key}`, 0] }, micros] }],
})
