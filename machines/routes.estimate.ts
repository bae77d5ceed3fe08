// What the evidence says about each route. In: what is stored over time. Out: facts, and how sure they are. Pure.

import { HOUR_MS } from '../infra/time.ts'
import type { Channel } from './channels.ts'
import { betaOf, meanOf, quantilesOf } from './routes.beta.ts'
import { decayed, judgedUntil } from './routes.judged.ts'
import { createRoutesOfApp, placeOf } from './routes.others.ts'
import { judge } from './routes.silence.ts'
import type { Evidence, Outage, RouteCounts, RouteFact, RouteHistory, RouteKey } from './routes.ts'

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

/** The facts about every route of an app that has a history. `previous` tells where its test for silence stands. */
export function factsOf(
  histories: readonly RouteHistory[],
  previous: readonly RouteFact[],
  now: number,
  outages: readonly Outage[] = [],
): RouteFact[] {
  const before = new Map(previous.map(fact => [keyOf(fact), fact.silence]))
  const timed = withDelays(histories)
  const app = createRoutesOfApp(timed, outages)
  return timed.map(history => factOf(history, judge(history, app, before.get(keyOf(history)) ?? null, now), now))
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

const keyOf = (key: RouteKey): string => `${placeOf(key)} ${key.provider}`

/** Facts that were made `at` as they are now: evidence fades, also where no message makes them anew. */
export function agedFacts(facts: readonly RouteFact[], at: number, now: number): RouteFact[] {
  const weight = 2 ** (-Math.max(0, now - at) / HALF_LIFE_MS)
  return facts.map(fact => ({
    ...fact,
    evidence: { approved: weight * fact.evidence.approved, missed: weight * fact.evidence.missed },
  }))
}

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

/** What is expected of a provider without evidence: the mean rate of the routes of the channel. Each of them weighs the same, however many
 *  messages it gets, because the best gets most of them and the others are not like it; one with little evidence weighs less. A route of
 *  which nothing is known is counted in, so that one bad provider does not make the others look bad. `facts` are those of one kind of key,
 *  so that devices do not decide about servers. */
export function pooledPrior(facts: readonly RouteFact[], channel: Channel): Evidence {
  let [rates, weights] = [UNKNOWN_RATE, 1]
  for (const { channel: own, evidence } of facts) {
    const messages = evidence.approved + evidence.missed
    if (own !== channel || messages === 0) continue
    const weight = messages / (messages + PRIOR_MESSAGES)
    rates += (weight * evidence.approved) / messages
    weights += weight
  }
  const rate = Math.min(1 - MIN_RATE, Math.max(MIN_RATE, rates / weights))
  return { approved: rate * PRIOR_MESSAGES, missed: (1 - rate) * PRIOR_MESSAGES }
}

export function estimate(evidence: Evidence, prior: Evidence): Estimate {
  const distribution = betaOf(evidence, prior)
  const mean = meanOf(distribution)
  const [low = 0, high = 1] = quantilesOf(distribution, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
  // The mean of a distribution that leans to one side may be outside of the interval.
  return { mean, low: Math.min(mean, low), high: Math.max(mean, high) }
}
