// Plays past calls again under other settings. In: the sends, resends, refusals and approvals of a time, in order, the
// settings as saved and the settings to try. Out: what would have been refused, let through and moved, and what it
// would have cost. The rules are those of live calls: routing.ts, quotas.ts and windows.ts, resend.ts, fraud.ts,
// spend-caps.ts.
//
// Played again from what a verification and a refusal store: countries, channels and their order, limits of recipients,
// addresses and the app, cooldowns and the messages of a verification, fallbacks and answers in a chat that were sent,
// the fraud guard, spend caps. Not known, and so not judged: the balance, challenges, what people would have done after
// another answer or on a link that they did not get, resends of a wa.me link (no message, so no record), guesses,
// fallbacks and answers that were not sent then, calls that the edge refused before it read the recipient, and refusals
// that were only counted.
//
// Two worlds are played beside each other. The one of the saved settings follows what happened; where its rules decide otherwise than
// happened then (other settings or providers at the time, processes that counted at once), the call is not judged and both worlds take what
// happened. So unchanged settings never differ. The tried settings hold from `since` on; what happened before only fills the counters.

import { HOUR_MS } from '../infra/time.ts'
import type { LimitScope } from './calls.ts'
import type { Channel } from './channels.ts'
import type { ErrorType } from './errors.ts'
import { MAX_CODE_LIFE_MS } from './otp.code-life.ts'
import {
  type Accepted,
  isOnLink,
  isRefused,
  otpIdOf,
  type PastCall,
  type PastEvent,
  type PastResult,
  type PastSend,
  type Refused,
} from './replay.calls.ts'
import { createWorld, type Judged, type World, type WorldInput } from './replay.world.ts'
import type { AppSettings } from './settings.ts'

export interface ReplayInput extends WorldInput {
  tried: AppSettings
  since: number
}

/** Why a call was not judged, or what would follow from it. `not_reproduced`: the saved settings do not decide as was
 *  decided then. `not_sent`: a fallback or an answer in a chat would not be. `link_answers`: it would wait on another
 *  link, or on none. `code_life`: its code was entered when it would not be valid any more. */
export type ReplayReason = 'not_reproduced' | 'balance' | 'of_unknown_send' | 'not_sent' | 'link_answers' | 'code_life'

export interface RefusalCount extends Refused {
  country: string | null
  count: number
}

export interface MoveCount {
  from: Channel
  to: Channel
  country: string | null
  count: number
}

export interface ReplayExample {
  at: number
  outcome: 'refused' | 'no_longer_refused' | 'moved'
  /** Null for a send that was refused: there is no verification. */
  otp_id: string | null
  masked_recipient: string
  country: string | null
  /** The type of the refusal that would be, or that was. */
  type: ErrorType | null
  scope: LimitScope | null
  from: Channel | null
  to: Channel | null
}

export interface ReplayResult {
  /** Sends and resends, accepted and refused, that were judged or could not be. */
  sends: number
  refused: RefusalCount[]
  no_longer_refused: RefusalCount[]
  moved: MoveCount[]
  cost_micros: { was: number; would_be: number }
  examples: ReplayExample[]
  not_judged: Map<ReplayReason, number>
}

const MAX_EXAMPLES = 20
/** A provider's last report comes soon after the end of a code. */
const FORGOTTEN_AFTER_MS = MAX_CODE_LIFE_MS + HOUR_MS
const FORGET_EVERY_MS = HOUR_MS / 4

export interface Replay {
  /** Events come in the order of time. */
  play(event: PastEvent): void
  result(): ReplayResult
}

export function createReplay(input: ReplayInput): Replay {
  const { saved, tried, since } = input
  const savedWorld = createWorld(saved, input)
  const triedWorld = createWorld(tried, input)
  const worlds = [savedWorld, triedWorld]
  const refused = createCounts<RefusalCount>()
  const noLongerRefused = createCounts<RefusalCount>()
  const moved = createCounts<MoveCount>()
  const examples = createExamples()
  const notJudged = new Map<ReplayReason, number>()
  const cost = { was: 0, would_be: 0 }
  const starts = new Map<string, PastSend>()
  let sends = 0

  const leaveOut = (reason: ReplayReason): void => void notJudged.set(reason, (notJudged.get(reason) ?? 0) + 1)
  const acceptIn = (world: World, call: PastCall, result: PastResult | null, quotas?: Judged['quotas']): void => {
    if (result !== null && !isRefused(result)) world.accept(call, result, quotas)
  }
  const takeWhatHappened = (call: PastCall): void => {
    for (const world of worlds) acceptIn(world, call, call.result)
  }

  function playCall(call: PastCall): void {
    sends += 1
    const was = call.result
    if (!isRefused(was)) cost.was += costOf(was)
    const bySaved = savedWorld.judge(call)
    const byTried = triedWorld.judge(call)
    if (bySaved === null) {
      // A verification that has ended is not resent, by any settings.
      if (!isRefused(was) || was.type !== 'ResendNotAllowedError') leaveOut('of_unknown_send')
      if (!isRefused(was)) cost.would_be += costOf(was)
      return
    }
    const isUnpaid = isRefused(was) && was.type === 'InsufficientFundsError'
    if (bySaved.result === null || (isUnpaid ? isRefused(bySaved.result) : !isSame(bySaved.result, was))) {
      if (endsCanceled(call)) {
        for (const world of worlds) world.end(otpIdOf(call), null, call.at)
        return
      }
      leaveOut('not_reproduced')
      if (!isRefused(was) && byTried !== null) cost.would_be += costOf(was)
      takeWhatHappened(call)
      return
    }
    acceptIn(savedWorld, call, was, bySaved.quotas)
    // The tried settings refuse its send: this message does not happen.
    if (byTried === null) return
    const wouldBe = byTried.result
    if (isUnpaid) {
      if (wouldBe !== null && !isRefused(wouldBe)) leaveOut('balance')
      return
    }
    if (wouldBe === null) {
      leaveOut('not_sent')
      return
    }
    compare(call, was, wouldBe)
    acceptIn(triedWorld, call, wouldBe, byTried.quotas)
    if (isRefused(wouldBe)) return
    const keepsRefund = !isRefused(was) && was.refund === 'given' && was.channel === wouldBe.channel
    cost.would_be += keepsRefund ? 0 : (wouldBe.micros ?? 0)
    if (savedWorld.linkOf(call) !== triedWorld.linkOf(call)) leaveOut('link_answers')
  }

  /** When it was canceled is not on record, but it was by the first resend that was refused as not allowed. */
  const endsCanceled = (call: PastCall): boolean =>
    isRefused(call.result) &&
    call.result.type === 'ResendNotAllowedError' &&
    starts.get(otpIdOf(call))?.isCanceled === true

  function playEnd({ at, otp_id, approval }: Extract<PastEvent, { what: 'end' }>): void {
    const isLate = triedWorld.isExpired(otp_id, at) && !savedWorld.isExpired(otp_id, at)
    if (isLate && approval !== null && at >= since) leaveOut('code_life')
    for (const world of worlds) world.end(otp_id, approval, at)
  }

  function compare(call: PastCall, was: PastResult, wouldBe: PastResult): void {
    const start = starts.get(otpIdOf(call))
    const country = start?.recipient.country ?? null
    const example = (
      outcome: ReplayExample['outcome'],
      refusal: Refused | null,
      from: Channel | null,
      to: Channel | null,
    ) =>
      examples.add({
        at: call.at,
        outcome,
        otp_id: call.what === 'resend' ? call.otp_id : isRefused(was) ? null : call.id,
        masked_recipient: start?.recipient.masked ?? '',
        country,
        type: refusal?.type ?? null,
        scope: refusal?.scope ?? null,
        from,
        to,
      })
    if (isRefused(was)) {
      if (isRefused(wouldBe)) return
      noLongerRefused.add({ type: was.type, scope: was.scope, country })
      example('no_longer_refused', was, null, wouldBe.channel)
    } else if (isRefused(wouldBe)) {
      refused.add({ type: wouldBe.type, scope: wouldBe.scope, country })
      example('refused', wouldBe, was.channel, null)
    } else if (was.channel !== wouldBe.channel) {
      moved.add({ from: was.channel, to: wouldBe.channel, country })
      example('moved', null, was.channel, wouldBe.channel)
    }
  }

  // Not at every event: a map is walked from its start, past what was deleted there.
  let forgetAt = Number.NEGATIVE_INFINITY
  function forgetOld(at: number): void {
    if (at < forgetAt) return
    forgetAt = at + FORGET_EVERY_MS
    for (const [id, send] of starts) {
      if (send.at >= at - FORGOTTEN_AFTER_MS) break
      starts.delete(id)
      for (const world of worlds) world.forget(id)
    }
  }

  return {
    play(event) {
      forgetOld(event.at)
      if (event.what === 'send') starts.set(event.id, event)
      if (event.what === 'send' || event.what === 'resend') {
        if (event.at < since) takeWhatHappened(event)
        else playCall(event)
      } else if (event.what === 'end') playEnd(event)
      else for (const world of worlds) world.correctSpending(event.call_id, event.what, event.at)
    },
    result: () => ({
      sends,
      refused: refused.list(),
      no_longer_refused: noLongerRefused.list(),
      moved: moved.list(),
      cost_micros: cost,
      examples: examples.list(),
      not_judged: notJudged,
    }),
  }
}

const costOf = ({ micros, refund }: Accepted): number => (refund === 'given' ? 0 : (micros ?? 0))

const isSame = (one: PastResult, other: PastResult): boolean =>
  isRefused(one)
    ? isRefused(other) && one.type === other.type && one.scope === other.scope
    : !isRefused(other) && one.channel === other.channel && isOnLink(one) === isOnLink(other)

/** Counts what is alike; the most frequent first. */
function createCounts<Row extends { count: number }>() {
  const rows = new Map<string, Row>()
  return {
    add(row: Omit<Row, 'count'>): void {
      const key = JSON.stringify(row)
      const known = rows.get(key)
      if (known === undefined) rows.set(key, { ...row, count: 1 } as Row)
      else known.count += 1
    },
    list: (): Row[] => [...rows.values()].sort((one, other) => other.count - one.count),
  }
}

/** Keeps some of each outcome, so that the many of one do not hide another. */
function createExamples() {
  const kept: Record<ReplayExample['outcome'], ReplayExample[]> = { refused: [], no_longer_refused: [], moved: [] }
  return {
    add(example: ReplayExample): void {
      const list = kept[example.outcome]
      if (list.length < MAX_EXAMPLES) list.push(example)
    },
    list(): ReplayExample[] {
      const lists = Object.values(kept)
      const turns = Array.from({ length: MAX_EXAMPLES }, (_, nth) => lists.flatMap(list => list[nth] ?? []))
      return turns
        .flat()
        .slice(0, MAX_EXAMPLES)
        .sort((one, other) => one.at - other.at)
    },
  }
}
