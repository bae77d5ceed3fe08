// How long approvals took, as a compact histogram. In: seconds. Out: a step of the scale, and the median of many. Up to a minute a step
// is a second, so that the median is exact; above, each step is five percent longer than the one before.
import { SECOND_MS } from '../../../infra/time.ts'
import { MAX_CODE_LIFE_MS } from '../../../machines/otp.code-life.ts'

const EXACT_SECONDS = 60
const GROWTH = 1.05
const MAX_SECONDS = MAX_CODE_LIFE_MS / SECOND_MS

const stepAbove = (seconds: number): number =>
  EXACT_SECONDS + Math.floor(Math.log(seconds / EXACT_SECONDS) / Math.log(GROWTH))

const STEPS = stepAbove(MAX_SECONDS) + 1

export function approvalStep(ms: number): number {
  const seconds = Math.floor(Math.min(Math.max(ms / SECOND_MS, 0), MAX_SECONDS))
  return seconds < EXACT_SECONDS ? seconds : stepAbove(seconds)
}

/** The middle of each step, in whole seconds. */
const SECONDS_OF_STEP = Array.from({ length: STEPS }, (_, step) =>
  step < EXACT_SECONDS ? step : Math.round(EXACT_SECONDS * GROWTH ** (step - EXACT_SECONDS + 0.5)),
)

/** Steps and their counts in turn: `[7, 2, 12, 1]` are two approvals after 7 seconds and one after 12. A step may occur several times. */
export type ApprovalTimes = number[]

// One array for all calls, because a query computes tens of thousands of medians.
const countOfStep = new Float64Array(STEPS)

function sumBySteps(times: ApprovalTimes): number {
  countOfStep.fill(0)
  let total = 0
  for (let at = 0; at < times.length; at += 2) {
    const step = times[at] ?? 0
    const count = times[at + 1] ?? 0
    countOfStep[step] = (countOfStep[step] ?? 0) + count
    total += count
  }
  return total
}

/** Null without an approval. Of an even number, the lower of the two in the middle. */
export const medianSeconds = (times: ApprovalTimes): number | null => secondsOfShare(times, 0.5)

/** The time in which this share of the approvals came; null without an approval. */
export function secondsOfShare(times: ApprovalTimes, share: number): number | null {
  if (times.length === 0) return null
  const total = sumBySteps(times)
  if (total <= 0) return null
  let left = Math.ceil(total * share)
  for (let step = 0; step < STEPS; step += 1) {
    left -= countOfStep[step] ?? 0
    if (left <= 0) return SECONDS_OF_STEP[step] ?? null
  }
  return null
}

/** The same histogram with each step once, in order. */
export function compactTimes(times: ApprovalTimes): ApprovalTimes {
  if (times.length === 0) return times
  sumBySteps(times)
  const compact: ApprovalTimes = []
  for (let step = 0; step < STEPS; step += 1) {
    const count = countOfStep[step] ?? 0
    if (count !== 0) compact.push(step, count)
  }
  return compact
}
