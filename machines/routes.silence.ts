// Whether a provider that accepts messages delivers none in a country: a sequential test (CUSUM) over judged slots. In: a route's history,
// those of the other providers there, and where the test stood. Out: where it stands now. Pure.
//
// Each message adds the log of how much likelier its outcome is for a silent provider than for one that does as usual. Below zero the score
// starts anew, so that a good past does not hide a bad present. What a slot adds depends on nothing after it was judged: the result is
// the same whether slots come one by one or all at once.
import { DAY_MS, HOUR_MS } from './durations.ts'
import { APPROVED_BY_THEN, decayed, judgeDelayMs, judgedUntil } from './routes.judged.ts'
import type { RouteCounts, RouteHistory, Silence } from './routes.ts'

const WEEK_MS = 7 * DAY_MS

/** A silent provider converts at this part of its usual, at most. */
const SILENT_PART = 0.05
/** Silent above this score. A higher score is rarer by chance, and later: see docs/routes-simulation.md. */
const SILENT_SCORE = 20
/** A silent provider has recovered once its score has fallen by this much: three approvals in a row. */
const RECOVERED_FALL = 7

/** The usual follows a provider slowly, so that an outage is not the usual before it is noticed. */
const USUAL_HALF_LIFE_MS = WEEK_MS
/** Hours that ended less than this before a slot may belong to the same outage. */
const USUAL_ENDS_BEFORE_MS = HOUR_MS
/** With fewer messages, or approvals, there is no usual. */
const USUAL_MIN_MESSAGES = 20
const USUAL_MIN_APPROVED = 5
/** The same hours of a week ago, in which people may approve less: nights, weekends. */
const SAME_HOURS_MS = 3 * HOUR_MS
const SAME_HOURS_WEIGHT = 20
/** They lower the usual to half at most, because they may have been an outage themselves. */
const SAME_HOURS_MIN = 0.5

/** The others are looked at for as long as it takes to expect this many approvals of them, and an hour at most. */
const OTHERS_APPROVALS = 20
const OTHERS_MIN_APPROVALS = 5
const OTHERS_MAX_MS = HOUR_MS
const OTHERS_WEIGHT = 3

export function judge(
  history: RouteHistory,
  others: readonly RouteHistory[],
  previous: Silence | null,
  now: number,
): Silence {
  const until = judgedUntil(history, now)
  let { score, judged_until, since } = previous ?? { score: 0, judged_until: 0, since: null }
  const usual = createUsual(history)
  const otherUsuals = others.map(other => ({ other, usual: createUsual(other) }))
  for (const slot of history.slots) {
    if (slot.start < judged_until || slot.start >= until || slot.messages === 0) continue
    // While a provider is silent, its usual is that of before.
    const own = usual(since ?? slot.start)
    if (own === null) {
      // What it did before is forgotten, so nothing can show that it has recovered.
      if (since !== null) [score, since] = [0, null]
      continue
    }
    const expected = own * APPROVED_BY_THEN * conditionOf(otherUsuals, slot.start + judgeDelayMs(history))
    const change = evidenceOfSilence(slot, expected)
    if (since === null) {
      score = Math.max(0, score + change)
      if (score >= SILENT_SCORE) [score, since] = [SILENT_SCORE, slot.start]
    } else {
      score = Math.min(SILENT_SCORE, score + change)
      if (score <= SILENT_SCORE - RECOVERED_FALL) [score, since] = [0, null]
    }
  }
  return { score, judged_until: Math.max(judged_until, until), since }
}

/** Above zero where silence explains the messages better than the expected conversion. */
function evidenceOfSilence({ messages, approved }: RouteCounts, expected: number): number {
  const hits = Math.min(messages, approved)
  const perMiss = Math.log((1 - SILENT_PART * expected) / (1 - expected))
  return hits * Math.log(SILENT_PART) + (messages - hits) * perMiss
}

/** The usual conversion of a route at a time, on the careful side; null without enough evidence. It changes by the hour. */
function createUsual({ hours }: RouteHistory): (at: number) => number | null {
  const known = new Map<number, number | null>()
  return at => {
    const hour = Math.floor(at / HOUR_MS) * HOUR_MS
    const found = known.get(hour)
    if (found !== undefined) return found
    const computed = usualBefore(hours, hour)
    known.set(hour, computed)
    return computed
  }
}

function usualBefore(hours: readonly RouteCounts[], hour: number): number | null {
  const until = hour - USUAL_ENDS_BEFORE_MS
  const { messages, approved } = decayed(hours, { from: 0, until, now: hour, halfLifeMs: USUAL_HALF_LIFE_MS })
  if (messages < USUAL_MIN_MESSAGES || approved < USUAL_MIN_APPROVED) return null
  const rate = approved / (messages + 1)
  const careful = rate - Math.sqrt((rate * (1 - rate)) / messages)
  const weekAgo = hour - WEEK_MS
  const same = decayed(hours, {
    from: weekAgo - SAME_HOURS_MS,
    until: weekAgo + SAME_HOURS_MS,
    now: hour,
    halfLifeMs: Number.POSITIVE_INFINITY,
  })
  const ofSameHours = (same.approved + SAME_HOURS_WEIGHT * rate) / (same.messages + SAME_HOURS_WEIGHT)
  return careful * Math.min(1, Math.max(SAME_HOURS_MIN, ofSameHours / rate))
}

/** How the country does by the other providers, from 0 to 1. It does well as long as one of them does: only when all do worse than usual
 *  may the reason be elsewhere (a network, an app that is broken, a flood). Others with little traffic say nothing. */
function conditionOf(
  others: readonly { other: RouteHistory; usual: (at: number) => number | null }[],
  judgedAt: number,
): number {
  let best: number | null = null
  for (const { other, usual } of others) {
    const until = judgedAt - judgeDelayMs(other)
    let [expected, approved] = [0, 0]
    for (let nth = other.slots.findLastIndex(({ start }) => start <= until); nth >= 0; nth -= 1) {
      const slot = other.slots[nth] as RouteCounts
      if (slot.start <= until - OTHERS_MAX_MS || expected >= OTHERS_APPROVALS) break
      expected += slot.messages * (usual(slot.start) ?? 0) * APPROVED_BY_THEN
      approved += Math.min(slot.messages, slot.approved)
    }
    if (expected < OTHERS_MIN_APPROVALS) continue
    best = Math.max(best ?? 0, (approved + OTHERS_WEIGHT) / (expected + OTHERS_WEIGHT))
  }
  return Math.min(1, best ?? 1)
}
