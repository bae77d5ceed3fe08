// A country with some providers, played in virtual time: messages come, some of them are approved after a while, counts are stored by hour
// and slot as the service stores them, and the same pure functions as in the service make facts of them and order the providers. What the
// functions cannot know, the oracle knows: the true conversions of the moment.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../infra/time.ts'
import { factsOf, pooledPrior } from '../../machines/routes.estimate.ts'
import { APPROVED_BY_THEN, judgeDelayMs } from '../../machines/routes.judged.ts'
import { drawOrder, type RouteShare, sharesOf } from '../../machines/routes.order.ts'
import { judge } from '../../machines/routes.silence.ts'
import {
  ROUTE_SLOT_MS,
  type RouteCounts,
  type RouteFact,
  type RouteHistory,
  type Silence,
} from '../../machines/routes.ts'
import { createRandom, type Random } from '../support/random.ts'

export interface SimulatedProvider {
  name: string
  /** Of the messages that arrive in the usual conditions, those that are approved. */
  conversion: number
  /** What `conversion` changes by until the end of the simulation, evenly. */
  drift?: number
  cost_micros?: number
  /** The half of the approvals is faster. */
  medianSeconds?: number
}

export interface Outage {
  provider: string
  from: number
  until: number
  /** `loud`: refuses messages, so that the next provider gets them. Otherwise accepts them, and this part of the usual is approved. */
  kind: 'loud' | { part: number }
}

export interface Country {
  providers: readonly SimulatedProvider[]
  perDay: number
  /** What an approval is worth; 0: cost does not count. */
  worth_micros?: number
  outages?: readonly Outage[]
  /** Traffic is lower at night, and people approve less at night (by a tenth) and at weekends (by a fifth). */
  hasSwing?: boolean
}

/** `plain`: the first of the list that accepts, as if nothing were learned. `listed`: the same, but silent providers stand behind. `best`:
 *  by evidence. `oracle`: knows the true conversions. */
export type Policy = 'plain' | 'listed' | 'best' | 'oracle'

export interface Played {
  messages: number
  /** Expected ones: chance decides what the service learns, but not how its choices are rated. */
  approvals: number
  cost_micros: number
  /** When the service noticed that a provider is silent, or has recovered. */
  changes: Change[]
}

export interface Change {
  at: number
  provider: string
  silent: boolean
  /** The provider's judged messages since its outage began, or ended. */
  judged: number
}

/** A Monday. */
export const START = 2_816 * 7 * DAY_MS + 4 * DAY_MS

const NIGHT_TRAFFIC = 0.15
const NIGHT_DIP = 0.1
const WEEKEND_DIP = 0.2
const NINE_OF_TEN = 1.2816
/** The spread of approval times: nine of ten are within three times the median. */
const SPREAD = Math.log(3) / NINE_OF_TEN
const HOURS_KEPT_MS = 30 * DAY_MS
const SLOTS_KEPT_MS = 3 * HOUR_MS
const JUDGED_TOGETHER_MS = HOUR_MS
const DELAYS_KEPT = 500
/** Of the messages that are remembered, those that each provider but the first got. */
const REMEMBERED_OTHERS = 0.03

/** From 0 in the night to 1 at two in the afternoon. */
const daylight = (at: number): number => (1 + Math.cos((2 * Math.PI * ((at % DAY_MS) - 14 * HOUR_MS)) / DAY_MS)) / 2
const isWeekend = (at: number): boolean => Math.floor((at - START) / DAY_MS) % 7 >= 5

export const swingOf = (at: number): number =>
  (1 - NIGHT_DIP * (1 - daylight(at))) * (isWeekend(at) ? 1 - WEEKEND_DIP : 1)
/** On average 1. */
export const trafficAt = (at: number): number =>
  (NIGHT_TRAFFIC + (1 - NIGHT_TRAFFIC) * daylight(at)) / ((1 + NIGHT_TRAFFIC) / 2)

export function poisson(random: Random, mean: number): number {
  let [count, product] = [0, random()]
  for (const limit = Math.exp(-mean); product > limit; product *= random()) count += 1
  return count
}

function approvedOf(random: Random, messages: number, conversion: number): number {
  let approved = 0
  for (let left = messages; left > 0; left -= 1) if (random() < conversion) approved += 1
  return approved
}

const normal = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** One provider's counts, as they are stored. */
function createRoute({ name, medianSeconds = 20 }: SimulatedProvider) {
  const hours: RouteCounts[] = []
  const slots: RouteCounts[] = []
  const delays: number[] = []
  const find = (all: RouteCounts[], at: number, length: number): RouteCounts => {
    const start = Math.floor(at / length) * length
    const known = all.findLast(one => one.start <= start)
    if (known?.start === start) return known
    const added = { start, messages: 0, delivered: 0, approved: 0 }
    all.push(added)
    return added
  }
  const history = {
    kind: 'server' as const,
    channel: 'sms' as const,
    country: 'DE',
    provider: name,
    hours,
    slots,
    seconds_p50: null as number | null,
    seconds_p90: null as number | null,
  }
  return {
    history: history as RouteHistory,
    count(member: 'messages' | 'approved', at: number): void {
      find(hours, at, HOUR_MS)[member] += 1
      if (slots.length === 0 || at >= (slots[0] as RouteCounts).start) find(slots, at, ROUTE_SLOT_MS)[member] += 1
    },
    /** A message whose outcome is known at once. It is `inTime` where its approval came before it was judged. */
    countAll(at: number, isApproved: boolean, inTime: boolean): void {
      const [hour, slot] = [find(hours, at, HOUR_MS), find(slots, at, ROUTE_SLOT_MS)]
      hour.messages += 1
      slot.messages += 1
      if (isApproved) hour.approved += 1
      if (inTime) slot.approved += 1
    },
    delay: (random: Random): number => medianSeconds * Math.exp(SPREAD * normal(random)),
    learnDelay(seconds: number): void {
      delays.push(seconds)
      if (delays.length > DELAYS_KEPT) delays.shift()
    },
    remember(from: number, until: number, countsAt: (at: number) => { messages: number; approved: number }): void {
      for (let start = from; start < until; start += HOUR_MS) {
        const { messages, approved } = countsAt(start)
        hours.push({ start, messages, delivered: messages, approved: Math.min(messages, approved) })
      }
      history.seconds_p50 = medianSeconds
      history.seconds_p90 = 3 * medianSeconds
      for (let nth = 0; nth < DELAYS_KEPT; nth += 1) delays.push(medianSeconds * 9 ** ((nth + 0.5) / DELAYS_KEPT - 0.5))
    },
    /** Once an hour. */
    tidy(now: number): void {
      while ((hours[0]?.start ?? now) < now - HOURS_KEPT_MS) hours.shift()
      while ((slots[0]?.start ?? now) < now - SLOTS_KEPT_MS) slots.shift()
      const sorted = delays.toSorted((one, other) => one - other)
      history.seconds_p50 = sorted[Math.floor(sorted.length / 2)] ?? null
      history.seconds_p90 = sorted[Math.floor(sorted.length * 0.9)] ?? null
    },
  }
}

export interface Play {
  country: Country
  policy: Policy
  seed: number
  start?: number
  /** Ends after so many messages or days, or once this holds. */
  messages?: number
  days: number
  isOver?: (played: Played) => boolean
  /** As many days of the same before the start are remembered. */
  rememberedDays?: number
}

export function play({
  country,
  policy,
  seed,
  start = START,
  messages = Number.POSITIVE_INFINITY,
  days,
  isOver = () => false,
  rememberedDays = 0,
}: Play): Played {
  const random = createRandom(seed)
  // A stream of their own, so that every policy gets the same messages.
  const arrivals = createRandom(seed + 1_000_000)
  const { providers, outages = [], worth_micros = 0, hasSwing = true } = country
  const routes = new Map(providers.map(provider => [provider.name, createRoute(provider)]))
  const routeOf = (name: string) => routes.get(name) as ReturnType<typeof createRoute>
  const played: Played = { messages: 0, approvals: 0, cost_micros: 0, changes: [] }
  const approvals = new Map<number, { provider: string; sentAt: number; seconds: number }[]>()
  const refreshes = new Set<number>()
  const end = start + days * DAY_MS
  let facts: RouteFact[] = []
  let shares: RouteShare[] = []

  const outageOf = ({ name }: SimulatedProvider, at: number) =>
    outages.find(({ provider, from, until }) => provider === name && at >= from && at < until)
  const conversionAt = (provider: SimulatedProvider, at: number): number => {
    const kind = outageOf(provider, at)?.kind
    const part = kind === undefined ? 1 : kind === 'loud' ? 0 : kind.part
    const drifted = provider.conversion + ((provider.drift ?? 0) * (at - start)) / (end - start)
    return drifted * part * (hasSwing ? swingOf(at) : 1)
  }
  const valueAt = (provider: SimulatedProvider, at: number): number =>
    conversionAt(provider, at) - (worth_micros > 0 ? (provider.cost_micros ?? 0) / worth_micros : 0)
  const highest = (at: number): SimulatedProvider[] =>
    providers.toSorted((one, other) => valueAt(other, at) - valueAt(one, at))

  function choose(at: number): SimulatedProvider | undefined {
    const isAccepting = (provider: SimulatedProvider) => outageOf(provider, at)?.kind !== 'loud'
    if (policy === 'oracle') return highest(at).find(isAccepting)
    if (policy === 'plain') return providers.find(isAccepting)
    const { order } = drawOrder(shares, random)
    const ordered = order.map(name => providers.find(provider => provider.name === name) as SimulatedProvider)
    return ordered.find(isAccepting)
  }

  function refresh(now: number): void {
    const before = new Map(facts.map(fact => [fact.provider, fact.silence.since !== null]))
    facts = factsOf(
      [...routes.values()].map(({ history }) => history),
      facts,
      now,
    )
    const options = providers.map(({ name, cost_micros }, listed) => ({
      provider: name,
      fact: facts.find(({ provider }) => provider === name) ?? null,
      cost_micros: cost_micros ?? null,
      listed,
    }))
    const rule = { providers: policy === 'best' ? ('best' as const) : ('listed' as const), worth_micros }
    shares = sharesOf(options, rule, pooledPrior(facts, 'sms'))
    for (const { provider, silence } of facts) {
      const silent = silence.since !== null
      if (silent === (before.get(provider) ?? false)) continue
      const turned = outages.findLast(one => one.provider === provider && (silent ? one.from : one.until) <= now)
      const since = (silent ? turned?.from : turned?.until) ?? start
      const judged = routeOf(provider).history.slots.filter(
        ({ start }) => start >= since && start < silence.judged_until,
      )
      played.changes.push({ at: now, provider, silent, judged: judged.reduce((sum, one) => sum + one.messages, 0) })
    }
  }

  function send(at: number): void {
    const provider = choose(at)
    if (!provider) return
    const conversion = conversionAt(provider, at)
    const route = routeOf(provider.name)
    played.messages += 1
    played.approvals += conversion
    played.cost_micros += provider.cost_micros ?? 0
    route.count('messages', at)
    const judgedAt = at + ROUTE_SLOT_MS + judgeDelayMs(route.history)
    refreshes.add(Math.ceil(judgedAt / ROUTE_SLOT_MS))
    if (random() >= conversion) return
    const seconds = route.delay(random)
    const slot = Math.ceil((at + seconds * SECOND_MS) / ROUTE_SLOT_MS)
    approvals.set(slot, [...(approvals.get(slot) ?? []), { provider: provider.name, sentAt: at, seconds }])
  }

  if (rememberedDays > 0) remember()
  function remember(): void {
    const [first] = policy === 'best' ? highest(start) : providers
    for (const provider of providers) {
      const share = provider === first ? 1 - REMEMBERED_OTHERS * (providers.length - 1) : REMEMBERED_OTHERS
      const perHour = (country.perDay / 24) * share
      routeOf(provider.name).remember(start - rememberedDays * DAY_MS, start, at => {
        const count = Math.round(perHour * (hasSwing ? trafficAt(at) : 1) + random() - 0.5)
        return {
          messages: count,
          approved: approvedOf(random, count, provider.conversion * (hasSwing ? swingOf(at) : 1)),
        }
      })
    }
  }

  refresh(start)
  for (let now = start; now < end && played.messages < messages && !isOver(played); now += ROUTE_SLOT_MS) {
    const slot = now / ROUTE_SLOT_MS
    for (const { provider, sentAt, seconds } of approvals.get(slot) ?? []) {
      routeOf(provider).count('approved', sentAt)
      routeOf(provider).learnDelay(seconds)
    }
    approvals.delete(slot)
    if (now % HOUR_MS === 0) for (const route of routes.values()) route.tidy(now)
    const learns = policy === 'listed' || policy === 'best'
    if (refreshes.delete(slot) && learns) refresh(now)
    const mean = ((country.perDay * ROUTE_SLOT_MS) / DAY_MS) * (hasSwing ? trafficAt(now) : 1)
    for (let left = poisson(arrivals, mean); left > 0 && played.messages < messages; left -= 1)
      send(now + arrivals() * ROUTE_SLOT_MS)
  }
  return played
}

/** When something was noticed: minutes, and the provider's judged messages, after it happened. */
export interface Noticed {
  minutes: number
  judged: number
}

/** The first of two providers converts 2 % for some hours, in daytime. */
export function playSilence({
  usual,
  perMinute,
  policy,
  seed,
}: {
  usual: number
  perMinute: number
  policy: Policy
  seed: number
}): { noticed: Noticed | null; recovered: Noticed | null } {
  const start = START + 10 * HOUR_MS
  const from = start + 10 * MINUTE_MS
  const until = from + (perMinute === 1 ? 4 : 1) * HOUR_MS
  const { changes } = play({
    country: {
      providers: [
        { name: 'a', conversion: usual },
        { name: 'b', conversion: usual - 0.05 },
      ],
      perDay: perMinute * 24 * 60,
      hasSwing: false,
      outages: [{ provider: 'a', from, until, kind: { part: 0.02 / usual } }],
    },
    policy,
    seed,
    start,
    days: 1,
    isOver: played => played.changes.some(({ silent, at }) => !silent && at > until),
    rememberedDays: 14,
  })
  const after = (time: number, isSilent: boolean): Noticed | null => {
    const found = changes.find(({ at, provider, silent }) => at > time && provider === 'a' && silent === isSilent)
    return found ? { minutes: (found.at - time) / MINUTE_MS, judged: found.judged } : null
  }
  return { noticed: after(from, true), recovered: after(until, false) }
}

/** The alarms of a provider whose conversion only swings, over all of its countries. Of each hundred messages its rival gets some. Slots
 *  are judged as in the service, an hour at a time: the result is the same. */
export function countAlarms({
  perMinute,
  rivalShare,
  countries,
  days,
  seed,
}: {
  perMinute: number
  rivalShare: number
  /** The conversion of each; the first has the most traffic. */
  countries: readonly number[]
  days: number
  seed: number
}): number {
  const random = createRandom(seed)
  const weights = countries.map((_, nth) => 1 / (nth + 1))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  let alarms = 0
  for (const [nth, conversion] of countries.entries()) {
    const perMs = ((perMinute / 60_000) * (weights[nth] ?? 0)) / all
    const own = createRoute({ name: 'own', conversion })
    const rival = createRoute({ name: 'rival', conversion })
    const both = [
      { route: own, perMs: perMs * (1 - rivalShare) },
      { route: rival, perMs: perMs * rivalShare },
    ].filter(one => one.perMs > 0)
    for (const one of both)
      one.route.remember(START - 30 * DAY_MS, START, at => {
        const messages = Math.round(one.perMs * HOUR_MS * trafficAt(at) + random() - 0.5)
        return { messages, approved: approvedOf(random, messages, conversion * swingOf(at)) }
      })
    let silence: Silence | null = null
    for (let now = START; now < START + days * DAY_MS; now += JUDGED_TOGETHER_MS) {
      for (const { route, perMs } of both) {
        const gap = () => -Math.log(1 - random()) / (perMs * trafficAt(now))
        for (let at = now + gap(); at < now + JUDGED_TOGETHER_MS; at += gap()) {
          const isApproved = random() < conversion * swingOf(at)
          route.countAll(at, isApproved, isApproved && random() < APPROVED_BY_THEN)
        }
        if (now % HOUR_MS === 0) route.tidy(now)
      }
      const wasSilent: boolean = silence?.since != null
      silence = judge(own.history, [rival.history], silence, now)
      if (silence.since !== null && !wasSilent) alarms += 1
    }
  }
  return alarms
}
