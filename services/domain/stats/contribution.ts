// What a verification adds to the statistics of the hour it started in. It is a pure function of its document: the OTP actor adds what is
// new after each change, and the sweeper, which counts an hour again, adds all of it, so both come to the same numbers.
//
// A verification counts by its first channel and by the provider of its first message, also if it was resent on others, so that the
// approved ones of a row are among its started ones. A message counts by its own channel and provider.
import { ulidTime } from '../../../infra/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import type { Channel } from '../../../machines/channels.ts'
import { MAX_CODE_LIFE_MS } from '../../../machines/otp.code-life.ts'
import type { Delivery, Otp, SavedStatus } from '../../../machines/otp.ts'
import { type SavedOtp, toCurrentVersion } from '../../../machines/otp.versions.ts'
import { approvalStep } from './approval-times.ts'
import { addApproval, addCount, type Cell, type Cells, type Count, cellOf, isZeroCells, NONE } from './counts.ts'

/** What counts are split by. */
export const DIMENSIONS = ['channel', 'country', 'provider'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** `routes`: the counts of learned routes, see ../routes/contribution.ts. */
export type Tally = Record<Dimension | 'routes', Cells>

export const newTally = (): Tally => ({
  channel: new Map(),
  country: new Map(),
  provider: new Map(),
  routes: new Map(),
})

/** Whether its counts add up to nothing, as after a change that takes out what it adds. */
export const isZero = (tally: Tally): boolean => Object.values(tally).every(isZeroCells)

/** A receipt counts if it comes within this time of the start, which is longer than any code lives. So an hour is final some time after it
 *  ended, and can be counted again. */
export const RECEIPTS_COUNT_FOR_MS = MAX_CODE_LIFE_MS + HOUR_MS

/** Counted from the beginning of an hour: nothing changes its counts later, unless reports wait in a queue for so long. */
export const HOUR_IS_FINAL_AFTER_MS = HOUR_MS + RECEIPTS_COUNT_FOR_MS + 15 * MINUTE_MS

/** Counted from the beginning of a day: its last hour is final then, and the day is summed up. */
export const DAY_IS_FINAL_AFTER_MS = DAY_MS - HOUR_MS + HOUR_IS_FINAL_AFTER_MS

/** When a verification started: the time in its id, so that those of an hour are a range of ids. */
export const startOf = ({ _id, created_at }: { _id: string; created_at: number }): number => ulidTime(_id) ?? created_at

export const hourOf = (at: number): number => at - (at % HOUR_MS)
export const dayOf = (at: number): number => at - (at % DAY_MS)

interface CountedOtp extends SavedOtp {
  _id: string
  created_at: number
}

/** Adds a whole verification. */
export function addContribution(tally: Tally, doc: CountedOtp): void {
  const saved = toCurrentVersion(doc)
  const startedAt = startOf(doc)
  addVerification(tally, saved, 1)
  for (const delivery of saved.context.deliveries) addMessage(tally, saved.context, delivery, startedAt, 1)
}

/** Adds what a verification contributes after a change, and takes out what it did before. Only what has changed is touched, because this is
 *  called for every change. */
export function addChange(tally: Tally, before: SavedOtp, after: CountedOtp): void {
  const [old, saved] = [toCurrentVersion(before), toCurrentVersion(after)]
  if (firstProvider(old.context) !== firstProvider(saved.context)) {
    addVerification(tally, old, -1)
    addVerification(tally, saved, 1)
  } else if (old.value !== saved.value) {
    addOutcome(verificationCells(tally, saved.context), old, -1)
    addOutcome(verificationCells(tally, saved.context), saved, 1)
  }
  const startedAt = startOf(after)
  // Deliveries are only added, and keep their places.
  for (const [at, delivery] of saved.context.deliveries.entries()) {
    const had = old.context.deliveries[at]
    if (had === delivery) continue
    if (had) addMessage(tally, old.context, had, startedAt, -1)
    addMessage(tally, saved.context, delivery, startedAt, 1)
  }
}

/** Whether a change can change what the verification contributes. Wrong codes, exchanges and repeated commands cannot. */
export const changesContribution = (before: SavedOtp, after: SavedOtp): boolean =>
  before.value !== after.value || before.context.deliveries !== after.context.deliveries

function addVerification(tally: Tally, saved: SavedOtp, by: 1 | -1): void {
  const cells = verificationCells(tally, saved.context)
  addToAll(cells, 'started', by)
  addOutcome(cells, saved, by)
}

function addOutcome(cells: readonly Cell[], { value, context: otp }: SavedOtp, by: 1 | -1): void {
  const outcome = countedOutcome(value)
  if (outcome !== null) addToAll(cells, outcome, by)
  if (value !== 'approved' || otp.approval === null) return
  const step = approvalStep(otp.approval.at - otp.first_sent_at)
  for (const cell of cells) addApproval(cell, step, by)
}

function addMessage(tally: Tally, otp: Otp, delivery: Delivery, startedAt: number, by: 1 | -1): void {
  const cells = cellsOf(tally, delivery.channel, otp, delivery.provider)
  if (!wasSent(delivery)) {
    addToAll(cells, delivery.status === 'queued' ? 'queued' : 'unsent', by)
    return
  }
  addToAll(cells, 'sent', by)
  // A message without a receipt that counts is in no other count.
  if (delivery.status === 'sent' || !isInTime(delivery, startedAt)) return
  addToAll(cells, delivery.status === 'delivered' ? 'delivered' : 'undelivered', by)
}

const isInTime = ({ updated_at }: Delivery, startedAt: number): boolean =>
  updated_at < startedAt + RECEIPTS_COUNT_FOR_MS

export const isDeliveredInTime = (delivery: Delivery, startedAt: number): boolean =>
  delivery.status === 'delivered' && isInTime(delivery, startedAt)

const firstProvider = (otp: Otp): string | undefined => otp.deliveries[0]?.provider

const verificationCells = (tally: Tally, otp: Otp): Cell[] =>
  cellsOf(tally, otp.tried[0] ?? otp.channel, otp, firstProvider(otp))

const countedOutcome = (value: SavedStatus): Count | null =>
  value === 'approved' || value === 'failed' || value === 'expired' ? value : null

/** Whether a provider took the message: one that failed afterwards names the provider. */
export const wasSent = ({ status, provider }: Pick<Delivery, 'status' | 'provider'>): boolean =>
  status === 'sent' || status === 'delivered' || (status === 'failed' && provider !== undefined)

function cellsOf(tally: Tally, channel: Channel, otp: Otp, provider: string | undefined): Cell[] {
  const values: Record<Dimension, string> = {
    channel,
    country: otp.recipient.country ?? NONE,
    provider: provider ?? NONE,
  }
  return DIMENSIONS.map(name => cellOf(tally[name], values[name]))
}

function addToAll(cells: readonly Cell[], name: Count, by: number): void {
  for (const cell of cells) addCount(cell, name, by)
}
