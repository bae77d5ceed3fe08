// A country with some providers, played in virtual time: messages come, some of them are approved after a while, counts are stored by hour
// and slot as the service stores them, and the same pure functions as in the service make facts of them and order the providers. What the
// functions cannot know, the oracle knows: the true conversions of the moment.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../infra/time.ts'
import type { KeyKind } from '../../machines/otp.ts'
import { factsOf, pooledPrior } from '../../machines/routes.estimate.ts'
import { APPROVED_BY_THEN, judgeDelayMs } from '../../machines/routes.judged.ts'
import { drawOrder, messagesIn, type RouteShare, sharesOf } from '../../machines/routes.order.ts'
import { createRoutesOfApp } from '../../machines/routes.others.ts'
import { evidenceOfSilence, judge, judgesNextAt, SILENT_SCORE } from '../../machines/routes.silence.ts'
import {
  ROUTE_SLOT_MS,
  type RouteCounts,
  type RouteFact,
  type RouteHistory,
  type RouteSlot,
  type Silence,
} from '../../machines/routes.ts'
import { createUsual } from '../../machines/routes.usual.ts'
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
  /** Of its messages, those that it refuses: the next provider gets them. */
  refused?: number
  /** It has never had a message. */
  isIdle?: boolean
}

interface Stretch {
  from: number
  until: number
}

export interface Outage extends Stretch {
  provider: string
  /** `loud`: refuses messages, so that the next provider gets them. Otherwise accepts them, and this part of the usual is approved. */
  kind: 'loud' | { part: number }
}

export interface Country {
  providers: readonly SimulatedProvider[]
  perDay: number
  /** What an approval is worth; 0: cost does not count. */
  worth_micros?: number
  outages?: readonly Outage[]
  /** The service itself does not work: nothing is sent, and no code can be entered. */
  down?: readonly Stretch[]
  /** The app's form does not work: messages are sent, and no code can be entered. */
  brokenForm?: readonly Stretch[]
  /** Messages of a stranger, whose codes are not entered. */
  flood?: Stretch & { perHour: number }
  /** Of the keys that send; `server` unless it is given. */
  kind?: KeyKind
  /** Traffic is lower at night, and people approve less at night (by a tenth) and at weekends (by a fifth). */
  hasSwing?: boolean
}

/** `plain`: the first of the list that accepts, as if nothing were learned. `listed`: the same, but silent providers stand behind. `best`:
 *  by evidence. `oracle`: knows the true conversions. */
export type Policy = 'plain' | 'listed' | 'best' | 'oracle'

interface Played {
  messages: number
  /** Expected ones: chance decides what the service learns, but not how its choices are rated. */
  approvals: number
  cost_micros: number
  /** When the service noticed that a provider is silent, or has recovered. */
  changes: Change[]
}

interface Change {
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
/** The sweeper looks so often. */
const STEP_MS = 2 * SECOND_MS
const DELAYS_KEPT = 500
/** Of the messages that are remembered, those that each provider but the first got. */
const REMEMBERED_OTHERS = 0.03

/** From 0 in the night to 1 at two in the afternoon. */
const daylight = (at: number): number => (1 + Math.cos((2 * Math.PI * ((at % DAY_MS) - 14 * HOUR_MS)) / DAY_MS)) / 2
const isWeekend = (at: number): boolean => Math.floor((at - START) / DAY_MS) % 7 >= 5

const swingOf = (at: number): number => (1 - NIGHT_DIP * (1 - daylight(at))) * (isWeekend(at) ? 1 - WEEKEND_DIP : 1)
/** On average 1. */
const trafficAt = (at: number): number =>
  (NIGHT_TRAFFIC + (1 - NIGHT_TRAFFIC) * daylight(at)) / ((1 + NIGHT_TRAFFIC) / 2)

function poisson(random: Random, mean: number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
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
function createRoute({ name, medianSeconds = 20 }: SimulatedProvider, kind: KeyKind = 'server') {
  const hours: RouteCounts[] = []
  const slots: RouteSlot[] = []
  const delays: number[] = []
  function find<Counts extends { start: number }>(all: Counts[], fresh: Counts): Counts {
    const known = all.findLast(one => one.start <= fresh.start)
    if (known?.start === fresh.start) return known
    all.push(fresh)
    return fresh
  }
  const startOf = (at: number, length: number): number => Math.floor(at / length) * length
  const hourOf = (at: number): RouteCounts =>
    find(hours, { start: startOf(at, HOUR_MS), messages: 0, delivered: 0, approved: 0 })
  const slotOf = (at: number): RouteSlot =>
    find(slots, { start: startOf(at, ROUTE_SLOT_MS), messages: 0, tried: 0, approved: 0 })
  const history = {
    kind,
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
      hourOf(at)[member] += 1
      if (slots.length > 0 && at < (slots[0] as RouteSlot).start) return
      const slot = slotOf(at)
      slot[member] += 1
      if (member === 'approved') slot.tried += 1
    },
    /** A message whose outcome is known at once. It is `inTime` where its approval came before it was judged. */
    countAll(at: number, isApproved: boolean, inTime: boolean): void {
      const [hour, slot] = [hourOf(at), slotOf(at)]
      hour.messages += 1
      slot.messages += 1
      if (isApproved) hour.approved += 1
      if (!inTime) return
      slot.tried += 1
      slot.approved += 1
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

interface Play {
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
  /** Called for every message that is no stranger's. */
  onSent?: (at: number, provider: string) => void
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
  onSent = () => {},
}: Play): Played {
  const random = createRandom(seed)
  // A stream of their own, so that every policy gets the same messages.
  const arrivals = createRandom(seed + 1_000_000)
  const { providers, outages = [], down = [], brokenForm = [], flood, worth_micros = 0, hasSwing = true } = country
  const isIn = (all: readonly Stretch[], at: number) => all.some(({ from, until }) => at >= from && at < until)
  const routes = new Map(providers.map(provider => [provider.name, createRoute(provider, country.kind)]))
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
    return isIn(brokenForm, at) ? 0 : drifted * part * (hasSwing ? swingOf(at) : 1)
  }
  const valueAt = (provider: SimulatedProvider, at: number): number =>
    conversionAt(provider, at) - (worth_micros > 0 ? (provider.cost_micros ?? 0) / worth_micros : 0)
  const highest = (at: number): SimulatedProvider[] =>
    providers.toSorted((one, other) => valueAt(other, at) - valueAt(one, at))

  function choose(at: number): SimulatedProvider | undefined {
    const isAccepting = (provider: SimulatedProvider) =>
      outageOf(provider, at)?.kind !== 'loud' && !(provider.refused !== undefined && random() < provider.refused)
    if (policy === 'oracle') return highest(at).find(isAccepting)
    if (policy === 'plain') return providers.find(isAccepting)
    const { order } = drawOrder(shares, random)
    const ordered = order.map(name => providers.find(provider => provider.name === name) as SimulatedProvider)
    return ordered.find(isAccepting)
  }

  function refresh(now: number): void {
    const before = new Map(facts.map(fact => [fact.provider, fact.silence.since !== null]))
    // A provider without messages has no history.
    const histories = [...routes.values()].map(({ history }) => history).filter(({ hours }) => hours.length > 0)
    const over = down.filter(({ until }) => until <= now)
    facts = factsOf(histories, facts, now, over)
    for (const [nth, { silence }] of facts.entries()) {
      const next = judgesNextAt(histories[nth] as RouteHistory, silence, now)
      if (next !== null && next < now + ROUTE_SLOT_MS) refreshes.add(Math.ceil(next / STEP_MS))
    }
    const options = providers.map(({ name, cost_micros }, listed) => ({
      provider: name,
      fact: facts.find(({ provider }) => provider === name) ?? null,
      cost_micros: cost_micros ?? null,
      listed,
    }))
    const rule = { providers: policy === 'best' ? ('best' as const) : ('listed' as const), worth_micros }
    shares = sharesOf(options, rule, { prior: pooledPrior(facts, 'sms'), messages: messagesIn(facts) })
    for (const { provider, silence } of facts) {
      const silent = silence.since !== null
      if (silent === (before.get(provider) ?? false)) continue
      const turned = outages.findLast(one => one.provider === provider && (silent ? one.from : one.until) <= now)
      const since = (silent ? turned?.from : turned?.until) ?? start
      played.changes.push({ at: now, provider, silent, judged: judgedSince(provider, since, now) })
    }
  }

  /** The messages since then that are old enough. Of a slot that is growing old, its part. */
  function judgedSince(provider: string, since: number, now: number): number {
    const { history } = routeOf(provider)
    const until = now - judgeDelayMs(history)
    const partOf = ({ start }: RouteSlot): number => Math.min(1, Math.max(0, (until - start) / ROUTE_SLOT_MS))
    const all = history.slots.filter(({ start }) => start >= since)
    return all.reduce((sum, slot) => sum + Math.floor(partOf(slot) * slot.messages), 0)
  }

  function count(provider: SimulatedProvider, at: number): void {
    const route = routeOf(provider.name)
    route.count('messages', at)
    const slotEnd = Math.floor(at / ROUTE_SLOT_MS + 1) * ROUTE_SLOT_MS
    refreshes.add(Math.ceil((slotEnd + judgeDelayMs(route.history)) / STEP_MS))
  }

  function send(at: number): void {
    const provider = choose(at)
    if (!provider) return
    const conversion = conversionAt(provider, at)
    played.messages += 1
    played.approvals += conversion
    played.cost_micros += provider.cost_micros ?? 0
    onSent(at, provider.name)
    count(provider, at)
    if (random() >= conversion) return
    const seconds = routeOf(provider.name).delay(random)
    const enteredAt = at + seconds * SECOND_MS
    if (isIn(down, enteredAt) || isIn(brokenForm, enteredAt)) return
    const step = Math.ceil(enteredAt / STEP_MS)
    approvals.set(step, [...(approvals.get(step) ?? []), { provider: provider.name, sentAt: at, seconds }])
  }

  function sendOfStranger(at: number): void {
    const provider = choose(at)
    if (provider) count(provider, at)
  }

  if (rememberedDays > 0) remember()
  function remember(): void {
    const [first] = policy === 'best' ? highest(start) : providers
    for (const provider of providers) {
      if (provider.isIdle) continue
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
  for (let now = start; now < end && played.messages < messages && !isOver(played); now += STEP_MS) {
    const step = now / STEP_MS
    for (const { provider, sentAt, seconds } of approvals.get(step) ?? []) {
      routeOf(provider).count('approved', sentAt)
      routeOf(provider).learnDelay(seconds)
    }
    approvals.delete(step)
    if (now % HOUR_MS === 0) for (const route of routes.values()) route.tidy(now)
    if (isIn(down, now)) {
      // What was to be judged meanwhile is judged afterwards.
      if (refreshes.delete(step)) refreshes.add(step + 1)
      continue
    }
    const learns = policy === 'listed' || policy === 'best'
    if (refreshes.delete(step) && learns) refresh(now)
    const mean = ((country.perDay * STEP_MS) / DAY_MS) * (hasSwing ? trafficAt(now) : 1)
    for (let left = poisson(arrivals, mean); left > 0 && played.messages < messages; left -= 1)
      send(now + arrivals() * STEP_MS)
    if (flood && isIn([flood], now))
      for (let left = poisson(random, (flood.perHour * STEP_MS) / HOUR_MS); left > 0; left -= 1) sendOfStranger(now)
  }
  return played
}

/** When something was noticed: minutes, and the provider's judged messages, after it happened. */
interface Noticed {
  minutes: number
  judged: number
}

/** The first of two providers converts 2 % for some hours, in daytime. */
export function playSilence({
  usual,
  perMinute,
  policy,
  seed,
  kind = 'server',
}: {
  usual: number
  perMinute: number
  policy: Policy
  seed: number
  kind?: KeyKind
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
      kind,
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

/** What a time in which no codes are entered does to the first provider and its backup. */
interface PlayedTrouble {
  /** Whether the first provider was called silent. */
  isAlarmed: boolean
  /** Of the messages from the beginning of the trouble until an hour after its end, those that the backup got. */
  moved: number
  /** The same of the last quarter of the trouble. */
  movedLate: number
  /** Of the approvals of the oracle in that time, those that were lost. */
  lost: number
}

type Trouble = 'down' | 'form' | { first: number; backup: number }

/** Two weeks of usual days, then trouble at noon: an outage of the service, a broken form, or parts of their usual at which the two
 *  providers convert. The backup is idle, or gets what the first refuses. */
export function playTrouble({
  trouble,
  perMinute,
  policy,
  refused,
  minutes,
  seed,
}: {
  trouble: Trouble
  perMinute: number
  policy: 'listed' | 'best'
  refused: number
  minutes: number
  seed: number
}): PlayedTrouble {
  const start = START + 12 * HOUR_MS
  const stretch = { from: start + 10 * MINUTE_MS, until: start + (10 + minutes) * MINUTE_MS }
  const country: Country = {
    providers: [
      { name: 'a', conversion: 0.8, refused },
      { name: 'b', conversion: 0.75, isIdle: refused === 0 && policy === 'listed' },
    ],
    perDay: perMinute * 24 * 60,
    hasSwing: false,
    down: trouble === 'down' ? [stretch] : [],
    brokenForm: trouble === 'form' ? [stretch] : [],
    outages:
      typeof trouble === 'string'
        ? []
        : [
            { provider: 'a', ...stretch, kind: { part: trouble.first } },
            { provider: 'b', ...stretch, kind: { part: trouble.backup } },
          ],
  }
  const days = (stretch.until + HOUR_MS - start) / DAY_MS
  const lateFrom = stretch.until - (minutes / 4) * MINUTE_MS
  const sums = { all: 0, moved: 0, late: 0, movedLate: 0 }
  const { changes, approvals } = play({
    country,
    policy,
    seed,
    start,
    days,
    rememberedDays: 14,
    onSent(at, provider) {
      if (at < stretch.from) return
      const isMoved = provider === 'b' ? 1 : 0
      sums.all += 1
      sums.moved += isMoved
      if (at < lateFrom || at >= stretch.until) return
      sums.late += 1
      sums.movedLate += isMoved
    },
  })
  const most = play({ country, policy: 'oracle', seed, start, days, rememberedDays: 14 }).approvals
  return {
    isAlarmed: changes.some(({ provider, silent }) => provider === 'a' && silent),
    moved: sums.moved / sums.all,
    movedLate: sums.movedLate / Math.max(1, sums.late),
    lost: 1 - approvals / most,
  }
}

/** A stranger sends at night for four hours. Answers the part of the app's own messages, until noon, that were moved from the first
 *  provider, which is as good as ever. */
export function playFlood({
  kind,
  perDay,
  perHour,
  seed,
}: {
  kind: KeyKind
  perDay: number
  perHour: number
  seed: number
}): { isAlarmed: boolean; moved: number } {
  const from = START + 24 * HOUR_MS
  const sums = { all: 0, moved: 0 }
  const { changes } = play({
    country: {
      providers: [
        { name: 'a', conversion: 0.8 },
        { name: 'b', conversion: 0.75 },
      ],
      perDay,
      kind,
      flood: { from, until: from + 4 * HOUR_MS, perHour },
    },
    policy: 'listed',
    seed,
    start: from,
    days: 0.5,
    rememberedDays: 14,
    onSent(_, provider) {
      sums.all += 1
      if (provider !== 'a') sums.moved += 1
    },
  })
  return { isAlarmed: changes.some(({ silent }) => silent), moved: sums.moved / Math.max(1, sums.all) }
}

/** The conversion of each country of a provider; the first has the most traffic. */
interface Alarms {
  perMinute: number
  countries: readonly number[]
  days: number
  seed: number
}

const perMsIn = ({ perMinute, countries }: Alarms, nth: number): number => {
  const all = countries.reduce((sum, _, at) => sum + 1 / (at + 1), 0)
  return perMinute / MINUTE_MS / (nth + 1) / all
}

/** The alarms of a provider whose conversion only swings, over all of its countries. Its rival gets some of the messages. Slots are judged
 *  as in the service, an hour at a time. */
export function countAlarms({ rivalShare, ...alarms }: Alarms & { rivalShare: number }): number {
  const { countries, days, seed } = alarms
  const random = createRandom(seed)
  let found = 0
  for (const [nth, conversion] of countries.entries()) {
    const perMs = perMsIn(alarms, nth)
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
      silence = judge(own.history, createRoutesOfApp([own.history, rival.history]), silence, now)
      if (silence.since !== null && !wasSilent) found += 1
    }
  }
  return found
}

/** The same without a rival, message by message: stricter than the service, which judges some messages at once. Nothing is kept but
 *  hours, so that a thousand days of a busy provider take seconds. */
export function countAlarmsByMessage(alarms: Alarms): number {
  const { countries, days, seed } = alarms
  const random = createRandom(seed)
  let found = 0
  for (const [nth, conversion] of countries.entries()) {
    const perHour = perMsIn(alarms, nth) * HOUR_MS
    const hours: RouteCounts[] = []
    let score = 0
    for (let hour = START - 30 * DAY_MS; hour < START + days * DAY_MS; hour += HOUR_MS) {
      const usual = hour < START ? null : createUsual(hours).conversionAt(hour)
      const messages = poisson(random, perHour * trafficAt(hour))
      const rate = conversion * swingOf(hour)
      let approved = 0
      const expected = (usual ?? 0) * APPROVED_BY_THEN
      const [perHit, perMiss] = [evidenceOfSilence(1, 0, expected), evidenceOfSilence(0, 1, expected)]
      for (let left = messages; left > 0; left -= 1) {
        const drawn = random()
        if (drawn < rate) approved += 1
        score = Math.max(0, score + (drawn < rate * APPROVED_BY_THEN ? perHit : perMiss))
        if (score < SILENT_SCORE) continue
        found += 1
        score = 0
      }
      if (usual === null) score = 0
      hours.push({ start: hour, messages, delivered: messages, approved })
      if (hours.length > HOURS_KEPT_MS / HOUR_MS) hours.shift()
    }
  }
  return found
}
