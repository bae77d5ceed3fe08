// Whether a message looks like pumping. In: the counts of its number, of its number's block, range and country, and of
// the app; for a mailbox, those of the mailbox, its domain, the kind of its provider, and the app. Out: a judgement
// with its reasons. Pure.
//
// A fraudster who pumps messages earns money from ranges of numbers, and does not verify them. Two signals show it:
//   neighbours   many numbers that differ in their last digits only, most of them not verified
//   unverified   more messages were not verified than a number, a range, a country or the app is allowed (fraud.allowance.ts)
// Neighbours and a single number are refused. A range, a country or the app may also have a provider that loses messages, so they are only
// slowed down: the few messages that still pass show when it has recovered.
import { type Allowance, allowanceOf, floorOf, isUsedUp, type TallyScope } from './fraud.allowance.ts'
import {
  backOff,
  MAX_UNVERIFIED_MESSAGES,
  messageWait,
  type NumberHistory,
  unapprovedStarts,
  unverifiedMessages,
} from './fraud.number.ts'
import { type Block, type BlockNumber, countNeighbours, type NeighbourCounts } from './fraud.number-block.ts'
import { type Tally, usualConversion, usualPace } from './fraud.tally.ts'
import type { KeyKind } from './otp.ts'

export type FraudScope = 'number' | 'hundred' | 'block' | TallyScope
export type Signal = 'neighbours' | 'unverified'

export interface Reason {
  signal: Signal
  scope: FraudScope
  /** A country, a range of numbers by its first digits, a mail domain, or in words: `all numbers`, `one number`. */
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

/** `name` becomes the `subject` of a reason. */
export interface NamedTally {
  name: string
  tally: Tally
}

export interface Evidence {
  /** The kind of key that started the verification. */
  kind: KeyKind
  /** How many messages the app's devices may send in a minute. */
  perMinute: number
  /** Null for a server key: only what devices send is counted over the whole app. */
  app: NamedTally | null
  /** For a mailbox, the kind of its provider. */
  country: NamedTally
  /** For a mailbox, its domain; null where that is one of a large provider. */
  range: NamedTally | null
  isMailbox: boolean
  block: Block
  number: Pick<BlockNumber, 'tag' | 'hundred'>
  /** Null for a server key and in test mode. */
  history: NumberHistory | null
  /** Whether the message is the first of a verification that must keep the distance between starts. */
  backsOff: boolean
}

export interface Judgement {
  verdict: 'pass' | 'slow' | 'refuse'
  /** The points of the strongest reason. */
  score: number
  reasons: Reason[]
  /** When to try again after a refusal. */
  retryAfterMs: number
}

const SLOW_POINTS = 50
const REFUSE_POINTS = 100
const MIN_UNVERIFIED = { hundred: 5, block: 10 }
const POINTS_PER_NUMBER = { hundred: 10, block: 5 }
/** Neighbours are taken for real users if this share of them is verified, or half of the usual share if that is more. */
const MIN_VERIFIED_SHARE = 1 / 3
const NEIGHBOUR_PACE = { hundred: 2, block: 5 }
const NEIGHBOURS_RETRY_AFTER_MS = 600_000
/** A server's pace in ten minutes is `SERVER_PACE_FACTOR` times what is usually verified in them, but at least this. */
const MIN_SERVER_PACE: Record<TallyScope, number> = { range: 10, country: 50, app: 50 }
const SERVER_PACE_FACTOR = 3
/** The pace of devices is half of what is usually verified in ten minutes, but at least this. */
const MIN_DEVICE_PACE = 5
const DEVICE_PACE_FACTOR = 0.5

export function judge(evidence: Evidence, now: number): Judgement {
  const { country, range, block, number } = evidence
  const usual = usualConversion(country.tally, now)
  const neighbours = countNeighbours(block, number, now)
  const ofNumber = numberReasons(evidence, now)
  const reasons = [
    ...ofNumber.map(({ reason }) => reason),
    neighboursReason('hundred', range?.name, neighbours.hundred, usual),
    neighboursReason('block', range?.name, neighbours.block, usual),
    ...unverifiedReasons(evidence, now),
  ].filter(reason => reason !== null)
  const score = Math.max(0, ...reasons.map(({ points }) => points))
  const verdict = score >= REFUSE_POINTS ? 'refuse' : score >= SLOW_POINTS ? 'slow' : 'pass'
  return { verdict, score, reasons, retryAfterMs: retryAfterOf(ofNumber, verdict) }
}

/** A number's own wait is known; that of its neighbours depends on what others do. */
const retryAfterOf = (ofNumber: readonly { waitMs: number }[], verdict: Judgement['verdict']): number =>
  verdict !== 'refuse' ? 0 : Math.max(...ofNumber.map(({ waitMs }) => waitMs), 0) || NEIGHBOURS_RETRY_AFTER_MS

function neighboursReason(
  scope: 'hundred' | 'block',
  subject = '',
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
    pace: points >= REFUSE_POINTS ? null : NEIGHBOUR_PACE[scope],
  }
}

function numberReasons(
  { history, backsOff, isMailbox }: Pick<Evidence, 'history' | 'backsOff' | 'isMailbox'>,
  now: number,
): { reason: Reason; waitMs: number }[] {
  if (history === null) return []
  const what = isMailbox ? 'address' : 'number'
  const waits = [
    {
      waitMs: messageWait(history, now),
      sent: unverifiedMessages(history, now),
      detail: (sent: number) =>
        `${sent} messages to this ${what} within an hour were not verified; ${MAX_UNVERIFIED_MESSAGES} are allowed.`,
    },
    {
      waitMs: backsOff ? backOff(history, now) : 0,
      sent: unapprovedStarts(history, now),
      detail: (sent: number) => `${sent} verifications of this ${what} within a day were not approved.`,
    },
  ]
  return waits
    .filter(({ waitMs }) => waitMs > 0)
    .map(({ waitMs, sent, detail }) => ({
      waitMs,
      reason: {
        signal: 'unverified',
        scope: 'number',
        subject: `one ${what}`,
        points: REFUSE_POINTS,
        sent,
        verified: 0,
        usual: null,
        detail: detail(sent),
        pace: null,
      },
    }))
}

/** The allowance of each group of numbers, the widest first. */
export function allowancesOf(
  { kind, perMinute, app, country, range }: Pick<Evidence, 'kind' | 'perMinute' | 'app' | 'country' | 'range'>,
  now: number,
): (NamedTally & { scope: TallyScope; allowance: Allowance })[] {
  const measured = (scope: TallyScope, { name, tally }: NamedTally) => ({
    scope,
    name,
    tally,
    allowance: allowanceOf(tally, floorOf(scope, kind, perMinute), kind, now),
  })
  return [
    ...(app ? [measured('app', app)] : []),
    measured('country', country),
    ...(range ? [measured('range', range)] : []),
  ]
}

function unverifiedReasons(evidence: Evidence, now: number): Reason[] {
  const measured = allowancesOf(evidence, now)
  return (
    measured
      .filter(({ allowance }) => isUsedUp(allowance))
      // An attacker pumps other numbers of the app or the country. The users of a narrower group that is well are not slowed down for it.
      .filter(
        ({ scope }) => !measured.some(({ scope: other, allowance }) => isWithin(other, scope) && allowance.isProven),
      )
      .map(({ scope, name, tally, allowance }) => unverifiedReason(scope, name, tally, allowance, evidence.kind, now))
  )
}

const WIDTHS: Record<TallyScope, number> = { app: 3, country: 2, range: 1 }
const isWithin = (scope: TallyScope, other: TallyScope): boolean => WIDTHS[scope] < WIDTHS[other]

function unverifiedReason(
  scope: TallyScope,
  subject: string,
  tally: Tally,
  { sent, verified, unverified, allowed, usual }: Allowance,
  kind: KeyKind,
  now: number,
): Reason {
  const usually = usualPace(tally, now)
  return {
    signal: 'unverified',
    scope,
    subject,
    points: SLOW_POINTS + severity(unverified, allowed),
    sent,
    verified,
    usual,
    detail:
      `Of ${sent} messages to ${subject} within an hour ${verified} were verified` +
      `${usual === null ? '' : `; usual is ${percent(usual)}`}. ${Math.floor(allowed)} may stay unverified.`,
    pace:
      kind === 'server'
        ? Math.max(MIN_SERVER_PACE[scope], Math.ceil(SERVER_PACE_FACTOR * usually))
        : Math.max(MIN_DEVICE_PACE, Math.floor(DEVICE_PACE_FACTOR * usually)),
  }
}

/** 0 to 40, so that `SLOW_POINTS` plus this never reaches `REFUSE_POINTS`. */
const severity = (unverified: number, allowed: number): number =>
  unverified === 0 ? 0 : Math.floor(40 * (1 - allowed / unverified))

const percent = (share: number): string => `${Math.round(share * 100)} %`
