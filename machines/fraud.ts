// Whether a text message looks like one of many that nobody asked for, sent to earn money with. In: what is known of its number's
// country, range and block. Out: a judgement with its reasons. Pure.
//
// Whoever pumps messages owns ranges of numbers, or is paid by whoever does, and does not verify them. Three signs show it:
//   neighbours      many numbers that differ in their last digits only, most of them not verified
//   conversion      far fewer verified than is usual for the same country or range
//   never_verified  hardly any verified at all, whatever was usual
// The first names the culprits and refuses. The others may as well be a provider that loses messages: they slow a country or range
// down to its usual pace, which hurts nobody while there are no more sends than usual.
import { type Block, type Neighbour, type Neighbours, neighboursIn } from './fraud.block.ts'
import { recentShare, type Tally, usualPace, usualShare } from './fraud.tally.ts'

export type Scope = 'hundred' | 'block' | 'range' | 'country'

export interface Reason {
  signal: 'neighbours' | 'conversion' | 'never_verified'
  scope: Scope
  /** What it is about: a country, or a range of numbers by its first digits. */
  subject: string
  /** 50 slows, 100 refuses. */
  points: number
  sent: number
  verified: number
  /** The share that is usually verified; null where there is no telling. */
  usual: number | null
  /** In words. */
  detail: string
  /** To how many in ten minutes it slows down; null where it refuses. */
  pace: number | null
}

export interface Evidence {
  /** Names: what reasons call them. */
  country: { name: string; tally: Tally }
  range: { name: string; tally: Tally }
  block: Block
  number: Pick<Neighbour, 'tag' | 'hundred'>
}

export interface Judgement {
  verdict: 'pass' | 'slow' | 'refuse'
  /** That of the weightiest reason. */
  score: number
  reasons: Reason[]
}

const SLOW = 50
const REFUSE = 100
/** Below these nothing is judged: a small app is not a fraud for being small. */
const LEAST_SENT = { range: 30, country: 100 }
const LEAST_UNVERIFIED = { hundred: 5, block: 10 }
const POINTS_EACH = { hundred: 10, block: 5 }
/** Neighbours of which so many are verified are people. Half of what is usual there, if that is more. */
const PEOPLE = 1 / 3
/** Fewer than this count as none. */
const HARDLY_ANY = 0.05
/** The slowest a thing gets, in ten minutes; else three times what is usually verified in them. */
const SLOWEST: Record<Scope, number> = { hundred: 2, block: 5, range: 10, country: 50 }
const TIMES_USUAL = 3

export function judge({ country, range, block, number }: Evidence, now: number): Judgement {
  const usual = usualShare(country.tally, now)
  const neighbours = neighboursIn(block, number, now)
  const reasons = [
    crowd('hundred', range.name, neighbours.hundred, usual),
    crowd('block', range.name, neighbours.block, usual),
    ...conversions('range', range, now),
    ...conversions('country', country, now),
  ].filter(reason => reason !== null)
  const score = Math.max(0, ...reasons.map(({ points }) => points))
  return { verdict: score >= REFUSE ? 'refuse' : score >= SLOW ? 'slow' : 'pass', score, reasons }
}

function crowd(
  scope: 'hundred' | 'block',
  subject: string,
  { sent, verified, unverified }: Neighbours,
  usual: number | null,
): Reason | null {
  const people = Math.max(PEOPLE, (usual ?? 0) / 2)
  if (unverified < LEAST_UNVERIFIED[scope] || verified >= sent * people) return null
  const points = Math.min(REFUSE, Math.floor(unverified * POINTS_EACH[scope]))
  const size = scope === 'hundred' ? 'hundred' : 'ten thousand'
  return {
    ...{ signal: 'neighbours', scope, subject, points, sent, verified, usual },
    detail: `Of the same ${size} numbers in ${subject}, ${sent} others were sent to within an hour and ${verified} verified.`,
    pace: points >= REFUSE ? null : SLOWEST[scope],
  }
}

function conversions(
  scope: 'range' | 'country',
  { name: subject, tally }: { name: string; tally: Tally },
  now: number,
): (Reason | null)[] {
  const { sent, verified } = recentShare(tally, now)
  if (sent < LEAST_SENT[scope]) return []
  const usual = usualShare(tally, now)
  const pace = Math.max(SLOWEST[scope], Math.ceil(TIMES_USUAL * usualPace(tally, now)))
  const seen = { scope, subject, sent, verified, usual, pace }
  const found = `Of ${sent} sends to ${subject} within an hour ${verified} were verified`
  return [
    isFarBelow(sent, verified, usual)
      ? {
          ...{ signal: 'conversion', ...seen, points: SLOW + severity(sent, verified) },
          detail: `${found}; usual is ${percent(usual)}.`,
        }
      : null,
    verified < sent * HARDLY_ANY
      ? { ...{ signal: 'never_verified', ...seen, points: SLOW + severity(sent, verified) }, detail: `${found}.` }
      : null,
  ]
}

/** Surely below half of the usual, not just by chance. */
const isFarBelow = (sent: number, verified: number, usual: number | null): usual is number =>
  usual !== null && mostLikely(sent, verified) < usual / 2

/** The upper end of Wilson's interval: the share is hardly ever above it. */
function mostLikely(sent: number, verified: number): number {
  const share = Math.min(1, verified / sent)
  const squared = DEVIATIONS ** 2
  const middle = share + squared / (2 * sent)
  const spread = DEVIATIONS * Math.sqrt((share * (1 - share)) / sent + squared / (4 * sent ** 2))
  return (middle + spread) / (1 + squared / sent)
}
const DEVIATIONS = 2

/** 0 to 40: it never refuses by itself. */
const severity = (sent: number, verified: number): number => Math.floor(40 * (1 - mostLikely(sent, verified)))

const percent = (share: number): string => `${Math.round(share * 100)} %`
