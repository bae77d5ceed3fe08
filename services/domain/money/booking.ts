// Which entries there is money and room for, and the write that enters them. Pure. The write adds to whatever the account is by then, and
// its filter sees to it that all of it still fits: entries of other processes in between cost nobody a second try, as long as they do.
import type { Filter, Pipeline } from '../../../infra/store/docs.ts'
import { packEntries, withoutSeqs } from './batches.ts'
import type { Account, AccountDoc, Entry, EntryBatch, LedgerItem } from './documents.ts'
import { isExpiredKey, type SpendCap } from './spend-caps.ts'

/** `short`: the balance is too small for it, or so large that nobody could count on. `capped`: there is no room for it. */
export type EnterResult = 'entered' | 'known' | 'short' | 'capped'

export interface EntryRequest {
  entry: Entry
  /** A hold may need room below a cap. */
  cap?: SpendCap | undefined
}

/** To be entered, in this order. `taken`: what it spends at that key, below zero when it comes back. */
export interface BookedEntry {
  entry: Entry
  spend?: { key: string; micros: number; limit: number }
}

/** What was entered before, by name. */
export type KnownEntries = ReadonlyMap<string, Pick<LedgerItem, 'room'>>

export function book(
  { balance, spent = {} }: Pick<Account, 'balance' | 'spent'>,
  requests: readonly EntryRequest[],
  known: KnownEntries,
): { booked: BookedEntry[]; answers: EnterResult[] } {
  const booked: BookedEntry[] = []
  const seen = new Set(known.keys())
  const spentByKey = new Map(Object.entries(spent))
  let left = balance
  const answers = requests.map((one): EnterResult => {
    const { entry } = one
    if (seen.has(entry.entry)) return 'known'
    const spend = spendOf(one, known)
    const after = (spentByKey.get(spend?.key ?? '') ?? 0) + (spend?.micros ?? 0)
    if (spend && spend.micros > 0 && after > spend.limit) return 'capped'
    // Past what a number can count exactly, one more would change nothing.
    if (left + entry.micros < 0 || !Number.isSafeInteger(left + entry.micros)) return 'short'
    seen.add(entry.entry)
    left += entry.micros
    // Of a day that is over nothing is kept, and nothing comes back.
    const counts = spend && (spend.micros > 0 || spentByKey.has(spend.key))
    if (counts) spentByKey.set(spend.key, after)
    booked.push({ entry, ...(counts ? { spend } : {}) })
    return 'entered'
  })
  return { booked, answers }
}

export function spendOf({ entry, cap }: EntryRequest, known: KnownEntries): BookedEntry['spend'] {
  if (cap) return { ...cap, micros: -entry.micros }
  const key = known.get(`hold:${entry.delivery_id}`)?.room
  return key === undefined || entry.kind === 'hold' ? undefined : { key, micros: -entry.micros, limit: 0 }
}

export interface AccountWriteInput {
  /** As it was read, for what is entered only if nothing but holds was since. */
  lookedUp?: number
  /** As it was read; null when it was not. */
  account: Pick<Account, 'spent'> | null
  /** The first numbers of batches that need wait no longer. */
  movedSeqs: readonly number[]
  now: number
}

export function accountWrite(
  company_id: string,
  booked: readonly BookedEntry[],
  { lookedUp, account, movedSeqs, now }: AccountWriteInput,
): { filter: Filter<AccountDoc>; update: Pipeline } {
  const { total, lowest, highest, entries } = totalsOf(booked)
  const spends = spendByKey(booked)
  const expiredKeys = Object.keys(account?.spent ?? {}).filter(key => isExpiredKey(key, now))
  const filter: Filter<AccountDoc> = {
    _id: company_id,
    balance: { $gte: -lowest, $lte: Number.MAX_SAFE_INTEGER - highest },
    // The first finds none there.
    ...(lookedUp === undefined ? {} : { looked_up: lookedUp === 0 ? null : lookedUp }),
    ...Object.fromEntries(spends.flatMap(room => capFilter(room, account))),
  }
  const seq = { $ifNull: ['$seq', 0] }
  // As text it is never taken for an expression, whatever is in people's notes.
  const batch = { seq: { $add: [seq, 1] }, balance: '$balance', at: now, entries: { $literal: entries } }
  const $set = {
    balance: { $add: ['$balance', total] },
    seq: { $add: [seq, booked.length] },
    batches: { $concatArrays: [withoutSeqs('batches', movedSeqs), [batch]] },
    behind_at: { $ifNull: ['$behind_at', now] },
    rev: { $add: ['$rev', 1] },
    ...(lookedUp === undefined ? {} : { looked_up: lookedUp + 1 }),
    ...Object.fromEntries(spends.map(({ key, micros }) => [`spent.${key}`, incrementSpent(key, micros)])),
  }
  return {
    filter,
    update: [{ $set }, ...(expiredKeys.length > 0 ? [{ $unset: expiredKeys.map(key => `spent.${key}`) }] : [])],
  }
}

/** As it was entered, given the account after. */
export function enteredBatch(
  booked: readonly BookedEntry[],
  after: Pick<Account, 'balance' | 'seq'>,
  at: number,
): EntryBatch {
  const { total, entries } = totalsOf(booked)
  return { seq: (after.seq ?? 0) - booked.length + 1, balance: after.balance - total, at, entries }
}

/** How far the balance goes up and down on the way, and where it ends. */
function totalsOf(booked: readonly BookedEntry[]) {
  let [total, lowest, highest] = [0, 0, 0]
  for (const { entry } of booked) {
    total += entry.micros
    lowest = Math.min(lowest, total)
    highest = Math.max(highest, total)
  }
  const entries = packEntries(
    booked.map(({ entry, spend }) => ({ entry, ...(entry.kind === 'hold' && spend ? { room: spend.key } : {}) })),
  )
  return { total, lowest, highest, entries }
}

/** All that is taken at one key, and what may be spent there before the first, so that each of them finds room below its own cap. */
interface KeySpend {
  key: string
  micros: number
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

/** The first of a day finds none there. */
function capFilter({ key, micros, limitBefore }: KeySpend, account: AccountWriteInput['account']): [string, object][] {
  if (micros <= 0) return []
  const isFirst = account !== null && account.spent?.[key] === undefined
  return [[`spent.${key}`, isFirst ? { $exists: false } : { $lte: limitBefore }]]
}

const incrementSpent = (key: string, micros: number) => ({
  $max: [0, { $add: [{ $ifNull: [`$spent.${key}`, 0] }, micros] }],
})
