// Which entries there is money and room for, and the write that enters them. Pure. The write adds to whatever the account is by then, and
// its filter sees to it that all of it still fits: entries of other processes in between cost nobody a second try, as long as they do.
import type { Filter, Pipeline } from '../../../infra/store/docs.ts'
import { packed, without } from './batches.ts'
import type { Account, AccountDoc, Batch, Entry, LedgerItem } from './documents.ts'
import { isPast, type Room } from './room.ts'

/** `short`: the balance is too small for it, or so large that nobody could count on. `capped`: there is no room for it. */
export type Entered = 'entered' | 'known' | 'short' | 'capped'

export interface Wanted {
  entry: Entry
  /** A hold may need room below a cap. */
  room?: Room | undefined
}

/** To be entered, in this order. `taken`: what it spends at that key, below zero when it comes back. */
export interface Booked {
  entry: Entry
  taken?: { key: string; micros: number; most: number }
}

/** What was entered before, by name. */
export type Known = ReadonlyMap<string, Pick<LedgerItem, 'room'>>

export function book(
  { balance, spent = {} }: Pick<Account, 'balance' | 'spent'>,
  wanted: readonly Wanted[],
  known: Known,
): { booked: Booked[]; answers: Entered[] } {
  const booked: Booked[] = []
  const seen = new Set(known.keys())
  const used = new Map(Object.entries(spent))
  let left = balance
  const answers = wanted.map((one): Entered => {
    const { entry } = one
    if (seen.has(entry.entry)) return 'known'
    const taken = takenBy(one, known)
    const after = (used.get(taken?.key ?? '') ?? 0) + (taken?.micros ?? 0)
    if (taken && taken.micros > 0 && after > taken.most) return 'capped'
    // Past what a number can count exactly, one more would change nothing.
    if (left + entry.micros < 0 || !Number.isSafeInteger(left + entry.micros)) return 'short'
    seen.add(entry.entry)
    left += entry.micros
    // Of a day that is over nothing is kept, and nothing comes back.
    const counts = taken && (taken.micros > 0 || used.has(taken.key))
    if (counts) used.set(taken.key, after)
    booked.push({ entry, ...(counts ? { taken } : {}) })
    return 'entered'
  })
  return { booked, answers }
}

export function takenBy({ entry, room }: Wanted, known: Known): Booked['taken'] {
  if (room) return { ...room, micros: -entry.micros }
  const key = known.get(`hold:${entry.delivery_id}`)?.room
  return key === undefined || entry.kind === 'hold' ? undefined : { key, micros: -entry.micros, most: 0 }
}

export interface Writing {
  /** As it was read, for what is entered only if nothing but holds was since. */
  lookedUp?: number
  /** As it was read; null when it was not. */
  account: Pick<Account, 'spent'> | null
  /** The first numbers of batches that need wait no longer. */
  gone: readonly number[]
  now: number
}

export function writing(
  company_id: string,
  booked: readonly Booked[],
  { lookedUp, account, gone, now }: Writing,
): { filter: Filter<AccountDoc>; update: Pipeline } {
  const { total, lowest, highest, entries } = counted(booked)
  const rooms = roomsOf(booked)
  const past = Object.keys(account?.spent ?? {}).filter(key => isPast(key, now))
  const filter: Filter<AccountDoc> = {
    _id: company_id,
    balance: { $gte: -lowest, $lte: Number.MAX_SAFE_INTEGER - highest },
    // The first finds none there.
    ...(lookedUp === undefined ? {} : { looked_up: lookedUp === 0 ? null : lookedUp }),
    ...Object.fromEntries(rooms.flatMap(room => fits(room, account))),
  }
  const seq = { $ifNull: ['$seq', 0] }
  // As text it is never taken for an expression, whatever is in people's notes.
  const batch = { seq: { $add: [seq, 1] }, balance: '$balance', at: now, entries: { $literal: entries } }
  const $set = {
    balance: { $add: ['$balance', total] },
    seq: { $add: [seq, booked.length] },
    batches: { $concatArrays: [without('batches', gone), [batch]] },
    behind_at: { $ifNull: ['$behind_at', now] },
    rev: { $add: ['$rev', 1] },
    ...(lookedUp === undefined ? {} : { looked_up: lookedUp + 1 }),
    ...Object.fromEntries(rooms.map(({ key, micros }) => [`spent.${key}`, added(key, micros)])),
  }
  return {
    filter,
    update: [{ $set }, ...(past.length > 0 ? [{ $unset: past.map(key => `spent.${key}`) }] : [])],
  }
}

/** As it was entered, given the account after. */
export function entered(booked: readonly Booked[], after: Pick<Account, 'balance' | 'seq'>, at: number): Batch {
  const { total, entries } = counted(booked)
  return { seq: (after.seq ?? 0) - booked.length + 1, balance: after.balance - total, at, entries }
}

/** How far the balance goes up and down on the way, and where it ends. */
function counted(booked: readonly Booked[]) {
  let [total, lowest, highest] = [0, 0, 0]
  for (const { entry } of booked) {
    total += entry.micros
    lowest = Math.min(lowest, total)
    highest = Math.max(highest, total)
  }
  const entries = packed(
    booked.map(({ entry, taken }) => ({ entry, ...(entry.kind === 'hold' && taken ? { room: taken.key } : {}) })),
  )
  return { total, lowest, highest, entries }
}

/** All that is taken at one key, and what may be spent there before the first, so that each of them finds room below its own cap. */
interface Taking {
  key: string
  micros: number
  mostBefore: number
}

function roomsOf(booked: readonly Booked[]): Taking[] {
  const rooms = new Map<string, Taking>()
  for (const { taken } of booked) {
    if (!taken) continue
    const { key, micros, most } = taken
    const before = rooms.get(key)
    const sum = (before?.micros ?? 0) + micros
    rooms.set(key, { key, micros: sum, mostBefore: Math.min(before?.mostBefore ?? most, most - sum) })
  }
  return [...rooms.values()]
}

/** The first of a day finds none there. */
function fits({ key, micros, mostBefore }: Taking, account: Writing['account']): [string, object][] {
  if (micros <= 0) return []
  const isFirst = account !== null && account.spent?.[key] === undefined
  return [[`spent.${key}`, isFirst ? { $exists: false } : { $lte: mostBefore }]]
}

const added = (key: string, micros: number) => ({
  $max: [0, { $add: [{ $ifNull: [`$spent.${key}`, 0] }, micros] }],
})
