// What the evidence says about each route. In: what is stored over time. Out: facts, and how sure they are. Pure.

import type { Channel } from './channels.ts'
import { HOUR_MS } from './durations.ts'
import { betaOf, meanOf, quantilesOf } from './routes.beta.ts'
import { decayed, judgedUntil } from './routes.judged.ts'
import { judge } from './routes.silence.ts'
import type { Evidence, RouteCounts, RouteFact, RouteHistory, RouteKey } from './routes.ts'

const HALF_LIFE_MS = 24 * HOUR_MS
/** The prior weighs as much as this many messages: enough that one message decides nothing, and little enough that twenty do. */
const PRIOR_MESSAGES = 4
/** Where nothing is known yet. */
const UNKNOWN_RATE = 0.5
/** A pooled rate of 0 or 1 would make a provider without evidence look certain. */
const MIN_RATE = 0.1
const INTERVAL = 0.95

/** The conversion of a route by its evidence, between 0 and 1, and the interval that holds it with 95 %. */
export interface Estimate {
  mean: number
  low: number
  high: number
}

/** The facts about every route that has a history. `previous` tells where its test for silence stands. */
export function factsOf(histories: readonly RouteHistory[], previous: readonly RouteFact[], now: number): RouteFact[] {
  const before = new Map(previous.map(fact => [keyOf(fact), fact.silence]))
  const timed = withDelays(histories)
  const byPlace = new Map<string, RouteHistory[]>()
  for (const history of timed) byPlace.set(placeOf(history), [...(byPlace.get(placeOf(history)) ?? []), history])
  return timed.map(history => {
    const others = (byPlace.get(placeOf(history)) ?? []).filter(other => other !== history)
    return factOf(history, judge(history, others, before.get(keyOf(history)) ?? null, now), now)
  })
}

function factOf(history: RouteHistory, silence: RouteFact['silence'], now: number): RouteFact {
  const { kind, channel, country, provider, hours, slots, seconds_p50 } = history
  // Hours that are judged as a whole and, of later ones, the judged slots: nothing is in both.
  const until = judgedUntil(history, now)
  const slotsFrom = Math.floor(until / HOUR_MS) * HOUR_MS
  const decay = { now, halfLifeMs: HALF_LIFE_MS }
  const byHour = decayed(hours, { from: 0, until: slotsFrom, ...decay })
  const bySlot = decayed(slots, { from: slotsFrom, until, ...decay })
  const approved = byHour.approved + bySlot.approved
  return {
    kind,
    channel,
    country,
    provider,
    messages: sumOf(hours, 'messages'),
    delivered: sumOf(hours, 'delivered'),
    approved: sumOf(hours, 'approved'),
    evidence: { approved, missed: byHour.messages + bySlot.messages - approved },
    seconds_p50,
    silence,
  }
}

const placeOf = ({ kind, channel, country }: RouteKey): string => `${kind} ${channel} ${country}`
const keyOf = (key: RouteKey): string => `${placeOf(key)} ${key.provider}`

const sumOf = (counts: readonly RouteCounts[], member: 'messages' | 'delivered' | 'approved'): number =>
  counts.reduce((sum, one) => sum + one[member], 0)

/** A route without approvals of its own waits as long as the slowest other of its channel. */
function withDelays(histories: readonly RouteHistory[]): RouteHistory[] {
  const slowest = new Map<string, number>()
  for (const { kind, channel, seconds_p90 } of histories)
    slowest.set(`${kind} ${channel}`, Math.max(slowest.get(`${kind} ${channel}`) ?? 0, seconds_p90 ?? 0))
  return histories.map(history => ({
    ...history,
    seconds_p90: history.seconds_p90 ?? (slowest.get(`${history.kind} ${history.channel}`) || null),
  }))
}

/** What is expected of a provider without evidence: the rate of all providers of the channel. `facts` are those of one kind of key, so
 *  that devices do not decide about servers. */
export function pooledPrior(facts: readonly RouteFact[], channel: Channel): Evidence {
  let [approved, missed] = [UNKNOWN_RATE * PRIOR_MESSAGES, (1 - UNKNOWN_RATE) * PRIOR_MESSAGES]
  for (const fact of facts) {
    if (fact.channel !== channel) continue
    approved += fact.evidence.approved
    missed += fact.evidence.missed
  }
  const rate = Math.min(1 - MIN_RATE, Math.max(MIN_RATE, approved / (approved + missed)))
  return { approved: rate * PRIOR_MESSAGES, missed: (1 - rate) * PRIOR_MESSAGES }
}

export function estimate(evidence: Evidence, prior: Evidence): Estimate {
  const distribution = betaOf(evidence, prior)
  const mean = meanOf(distribution)
  const [low = 0, high = 1] = quantilesOf(distribution, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
  // The mean of a distribution that leans to one side may be outside of the interval.
  return { mean, low: Math.min(mean, low), high: Math.max(mean, high) }
}
