// Whether a text message looks like SMS pumping. In: the counts of its number's country, range and block. Out: a judgement with its
// reasons. Pure.
//
// A fraudster who pumps messages earns money from ranges of numbers, and does not verify them. Three signals show it:
//   neighbours      many numbers that differ in their last digits only, most of them not verified
//   conversion      far fewer verified than is usual for the same country or range
//   never_verified  hardly any verified at all, even if that is usual
// The first points at single numbers, so it can refuse. The others may also come from a provider that loses messages, so they only slow
// a country or range down to its usual pace, which users notice only when there are more sends than usual.
import { type Block, type BlockNumber, countNeighbours, type NeighbourCounts } from './fraud.number-block.ts'
import { recentCounts, type Tally, usualConversion, usualPace } from './fraud.tally.ts'

export type FraudScope = 'hundred' | 'block' | 'range' | 'country'

export interface Reason {
  signal: 'neighbours' | 'conversion' | 'never_verified'
  scope: FraudScope
  /** A country, or a range of numbers by its first digits. */
  subject: string
  /** From 50 on a reason slows sends down, from 100 on it refuses them. */
  points: number
  sent: number
  verified: number
  /** The share that is usually verified; null when it is not known. */
  usual: number | null
  /** A sentence for the operator. */
  detail: string
  /** How many sends in ten minutes are still allowed; null for a refusal. */
  pace: number | null
}

export interface Evidence {
  /** `name` becomes the `subject` of a reason. */
  country: { name: string; tally: Tally }
  range: { name: string; tally: Tally }
  block: Block
  number: Pick<BlockNumber, 'tag' | 'hundred'>
}

export interface Judgement {
  verdict: 'pass' | 'slow' | 'refuse'
  /** The points of the strongest reason. */
  score: number
  reasons: Reason[]
}

const SLOW_POINTS = 50
const REFUSE_POINTS = 100
/** Below these counts nothing is judged, so that chance does not slow down a small app. */
const MIN_SENT = { range: 30, country: 100 }
const MIN_UNVERIFIED = { hundred: 5, block: 10 }
const POINTS_PER_NUMBER = { hundred: 10, block: 5 }
/** Neighbours are taken for real users if this share of them is verified, or half of the usual share if that is more. */
const MIN_VERIFIED_SHARE = 1 / 3
/** A smaller share than this gives the signal `never_verified`. */
const NEVER_VERIFIED_SHARE = 0.05
/** The pace in ten minutes is `PACE_FACTOR` times what is usually verified in them, but at least this. */
const MIN_PACE: Record<FraudScope, number> = { hundred: 2, block: 5, range: 10, country: 50 }
const PACE_FACTOR = 3

export function judge({ country, range, block, number }: Evidence, now: number): Judgement {
  const usual = usualConversion(country.tally, now)
  const neighbours = countNeighbours(block, number, now)
  const reasons = [
    neighboursReason('hundred', range.name, neighbours.hundred, usual),
    neighboursReason('block', range.name, neighbours.block, usual),
    ...conversionReasons('range', range, now),
    ...conversionReasons('country', country, now),
  ].filter(reason => reason !== null)
  const score = Math.max(0, ...reasons.map(({ points }) => points))
  return { verdict: score >= REFUSE_POINTS ? 'refuse' : score >= SLOW_POINTS ? 'slow' : 'pass', score, reasons }
}

function neighboursReason(
  scope: 'hundred' | 'block',
  subject: string,
  { sent, verified, unverified }: NeighbourCounts,
  usual: number | null,
): Reason | null {
  const minVerifiedShare = Math.max(MIN_VERIFIED_SHARE, (usual ?? 0) / 2)
  if (unverified < MIN_UNVERIFIED[scope] || verified >= sent * minVerifiedShare) return null
  const points = Math.min(REFUSE_POINTS, Math.floor(unverified * POINTS_PER_NUMBER[scope]))
  const size = scope === 'hundred' ? 'hundred' : 'ten thousand'
  return {
    signal: 'neighbours',
    scope,
    subject,
    points,
    sent,
    verified,
    usual,
    detail: `Of the same ${size} numbers in ${subject}, ${sent} others were sent to within an hour and ${verified} verified.`,
    pace: points >= REFUSE_POINTS ? null : MIN_PACE[scope],
  }
}

function conversionReasons(
  scope: 'range' | 'country',
  { name: subject, tally }: { name: string; tally: Tally },
  now: number,
): (Reason | null)[] {
  const { sent, verified } = recentCounts(tally, now)
  if (sent < MIN_SENT[scope]) return []
  const usual = usualConversion(tally, now)
  const pace = Math.max(MIN_PACE[scope], Math.ceil(PACE_FACTOR * usualPace(tally, now)))
  const measured = { scope, subject, sent, verified, usual, pace }
  const summary = `Of ${sent} sends to ${subject} within an hour ${verified} were verified`
  return [
    isFarBelow(sent, verified, usual)
      ? {
          signal: 'conversion',
          ...measured,
          points: SLOW_POINTS + severity(sent, verified),
          detail: `${summary}; usual is ${percent(usual)}.`,
        }
      : null,
    verified < sent * NEVER_VERIFIED_SHARE
      ? {
          signal: 'never_verified',
          ...measured,
          points: SLOW_POINTS + severity(sent, verified),
          detail: `${summary}.`,
        }
      : null,
  ]
}

/** Whether the conversion is below half of the usual one, and not by chance. */
const isFarBelow = (sent: number, verified: number, usual: number | null): usual is number =>
  usual !== null && conversionUpperBound(sent, verified) < usual / 2

const Z_SCORE = 2

/** The upper bound of the Wilson score interval for the true conversion. */
function conversionUpperBound(sent: number, verified: number): number {
  const share = Math.min(1, verified / sent)
  const squared = Z_SCORE ** 2
  const middle = share + squared / (2 * sent)
  const spread = Z_SCORE * Math.sqrt((share * (1 - share)) / sent + squared / (4 * sent ** 2))
  return (middle + spread) / (1 + squared / sent)
}

/** 0 to 40, so that `SLOW_POINTS` plus this never reaches `REFUSE_POINTS`. */
const severity = (sent: number, verified: number): number => Math.floor(40 * (1 - conversionUpperBound(sent, verified)))

const percent = (share: number): string => `${Math.round(share * 100)} %`
