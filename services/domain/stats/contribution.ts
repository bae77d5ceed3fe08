// What a verification adds to the statistics of the hour it started in. It is a pure function of its document: the OTP actor adds what is
// new after each change, and the sweeper, which counts an hour again, adds all of it, so both come to the same numbers.
//
// A verification counts by its first channel and by the provider of its first message, also if it was resent on others, so that the
// approved ones of a row are among its started ones. A message counts by its own channel and provider.
import { ulidTime } from '../../../infra/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import type { Delivery, Otp, OtpStatus } from '../../../machines/otp.ts'
import { type SavedOtp, toCurrentVersion } from '../../../machines/otp.versions.ts'
import { approvalStep } from './approval-times.ts'
import { addApproval, addCount, type Cell, type Cells, type Count, cellOf, isZeroCells, NONE } from './cells.ts'

export const DIMENSIONS = ['channel', 'country', 'provider'] as const
export type Dimension = (typeof DIMENSIONS)[number]

export type Tally = Record<Dimension, Cells>

export const newTally = (): Tally => ({ channel: new Map(), country: new Map(), provider: new Map() })

/** Whether its counts add up to nothing, as after a change that takes out what it adds. */
export const isZero = (tally: Tally): boolean => DIMENSIONS.every(name => isZeroCells(tally[name]))

/** A receipt counts if it comes within this time of the start; no code lives that long. So an hour is final some time after it ended, and
 *  can be counted again. */
export const RECEIPTS_COUNT_FOR_MS = 4 * HOUR_MS

/** Counted from the beginning of an hour: nothing changes its counts later, unless reports wait in a queue for so long. */
export const HOUR_IS_FINAL_AFTER_MS = HOUR_MS + RECEIPTS_COUNT_FOR_MS + 15 * MINUTE_MS

/** When a verification started: the time in its id, so that those of an hour are a range of ids. */
export const startOf = ({ _id, created_at }: { _id: string; created_at: number }): number => ulidTime(_id) ?? created_at

export const hourOf = (at: number): number => at - (at % HOUR_MS)
export const dayOf = (at: number): number => at - (at % DAY_MS)

interface CountedOtp extends SavedOtp {
  _id: string
  created_at: number
}

/** `by` is 1, or -1 to take the verification out again. */
export function addContribution(tally: Tally, doc: CountedOtp, by: 1 | -1): void {
  const { value, context: otp } = toCurrentVersion(doc)
  const startedAt = startOf(doc)
  const country = otp.recipient.country ?? NONE
  const [first] = otp.deliveries
  const cells = cellsOf(tally, otp.tried[0] ?? otp.channel, country, first?.provider)
  addToAll(cells, 'started', by)
  const outcome = countedOutcome(value)
  if (outcome !== null) addToAll(cells, outcome, by)
  if (value === 'approved' && otp.approval !== null) {
    const step = approvalStep(otp.approval.at - otp.first_sent_at)
    for (const cell of cells) addApproval(cell, step, by)
  }
  for (const delivery of otp.deliveries) {
    if (!wasSent(delivery)) continue
    const ofMessage = cellsOf(tally, delivery.channel, country, delivery.provider)
    addToAll(ofMessage, 'sent', by)
    if (wasDelivered(delivery, startedAt)) addToAll(ofMessage, 'delivered', by)
  }
}

/** Whether a change can change what the verification contributes. Wrong codes, exchanges and repeated commands cannot. */
export const changesContribution = (before: SavedOtp, after: SavedOtp): boolean =>
  before.value !== after.value || before.context.deliveries !== after.context.deliveries

const countedOutcome = (value: OtpStatus): Count | null =>
  value === 'approved' || value === 'failed' || value === 'expired' ? value : null

/** Whether a provider took the message: one that failed afterwards names the provider. */
export const wasSent = ({ status, provider }: Pick<Delivery, 'status' | 'provider'>): boolean =>
  status === 'sent' || status === 'delivered' || (status === 'failed' && provider !== undefined)

const wasDelivered = ({ status, updated_at }: Delivery, startedAt: number): boolean =>
  status === 'delivered' && updated_at < startedAt + RECEIPTS_COUNT_FOR_MS

const cellsOf = (tally: Tally, channel: Otp['channel'], country: string, provider: string | undefined): Cell[] => [
  cellOf(tally.channel, channel),
  cellOf(tally.country, country),
  cellOf(tally.provider, provider ?? NONE),
]

function addToAll(cells: readonly Cell[], name: Count, by: number): void {
  for (const cell of cells) addCount(cell, name, by)
}
