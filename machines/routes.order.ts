// Which provider comes first: Thompson sampling by its probabilities, with evidence that counts more where there is much of it. In: the
// providers that may be used and the facts about them. Out: the share of messages that each gets first, and an order drawn by the shares.
// The shares are computed once per facts; only the draw is per message, with a random function that the caller seeds. Pure.
import type { LearnedReason } from './otp.ts'
import { type Beta, betaOf, chancesToBeHighest, meanOf } from './routes.beta.ts'
import { estimate } from './routes.estimate.ts'
import type { Evidence, RouteFact } from './routes.ts'

/** A provider that may be used for the message: it serves the country, and is not paused. One whose circuit breaker is
 *  open keeps its place: its messages are passed on to the next in the order. */
export interface RouteOption {
  provider: string
  fact: RouteFact | null
  /** What the vendor charges for a message; null where it is not known. */
  cost_micros: number | null
  /** Its place in the list, from 0. For shares only the order counts. */
  listed: number
}

export interface RouteShare {
  provider: string
  /** Its conversion by the evidence. */
  mean: number
  /** What its cost takes off the conversion; null where cost does not decide about it. */
  less: number | null
  /** The share of messages for which it comes first. */
  share: number
  /** Why it comes first when it does; null for the plain listed order. */
  rule: LearnedReason['rule'] | null
}

export interface RouteRule {
  providers: 'listed' | 'best'
  /** What an approval is worth; 0: cost does not count. */
  worth_micros: number
}

/** Fewer messages in a country, of one channel and one kind of key in 30 days, are too few to learn from. */
export const MIN_MESSAGES = 50
/** Every provider gets this share, so that a better one, and a recovery, is noticed. */
export const MIN_SHARE = 0.02
/** All providers but the best get no more than this together. */
export const MAX_EXPLORED = 0.2
/** Where the others get their chances, evidence counts in proportion to the messages of the country: once at
 *  `MIN_MESSAGES`, and so many times at most. Evidence fades in days, so a provider with few messages is never known
 *  well, and its plain chance to be the best would give it twice its 2 % forever (docs/routes-simulation.md). */
const MAX_CERTAINTY = 10
/** Silent providers keep this share together while it is not known whether the others do better. */
export const UNSURE_SHARE = 0.5
/** A suggestion needs this much certainty, and this much gain. */
const SUGGEST_CHANCE = 0.95
const SUGGEST_GAIN = 0.01

export const isSilent = ({ fact }: RouteOption): boolean => fact !== null && fact.silence.since !== null
/** Where codes of the others are not entered either, it stands behind none of them. */
const standsBehind = (option: RouteOption): boolean => isSilent(option) && option.fact?.silence.others !== 'silent'
const isUnsure = ({ fact }: RouteOption): boolean => fact?.silence.others === 'unknown'

/** The messages of a country, of one channel and one kind of key, in 30 days: also those of providers that may no longer be used. */
export const messagesIn = (facts: readonly RouteFact[]): number =>
  facts.reduce((sum, { messages }) => sum + messages, 0)

/** Each provider's share of the messages, in the listed order. `messages`: see `messagesIn`. */
export function sharesOf(
  options: readonly RouteOption[],
  rule: RouteRule,
  { prior, messages }: { prior: Evidence; messages: number },
): RouteShare[] {
  const listed = options.toSorted((one, other) => one.listed - other.listed)
  const inFront = listed.filter(option => !standsBehind(option))
  // Where all are silent, none stands behind another.
  const usable = inFront.length === 0 ? listed : inFront
  const behind = listed.filter(option => !usable.includes(option))
  const learns = rule.providers === 'best' && messages >= MIN_MESSAGES
  const values = valuesOf(usable, rule.worth_micros, prior)
  const first = learns ? highestOf(values) : values[0]
  const floor = Math.min(MIN_SHARE, MAX_EXPLORED / Math.max(1, listed.length - 1))
  const shares = new Map<RouteOption, number>()
  const unsure = behind.filter(isUnsure).length
  for (const option of behind) shares.set(option, isUnsure(option) ? UNSURE_SHARE / unsure : floor)
  const certainty = Math.min(MAX_CERTAINTY, messages / MIN_MESSAGES)
  if (learns) explore(values, first, { floor, most: MAX_EXPLORED - floor * behind.length, certainty }, shares)
  // A change is noticed only if the others get some messages.
  else if (first && isSilent(first.option))
    for (const option of usable) if (option !== first.option) shares.set(option, floor)
  const given = [...shares.values()].reduce((sum, share) => sum + share, 0)
  if (first) shares.set(first.option, 1 - given)
  return listed.map((option, nth) => ({
    provider: option.provider,
    share: shares.get(option) ?? 0,
    mean: meanOf(betaOf(evidenceOf(option), prior)),
    less: (learns ? values : []).find(value => value.option === option)?.less ?? null,
    rule: reasonOf(option, nth),
  }))

  function reasonOf(option: RouteOption, nth: number): RouteShare['rule'] {
    if (!usable.includes(option)) return 'probe'
    const isFirst = option === first?.option
    if (learns) return isFirst ? 'best' : 'explored'
    if (!isFirst && shares.has(option)) return 'explored'
    return isFirst && nth > 0 ? 'spared' : null
  }
}

/** A provider's conversion, and what its cost takes off: null where cost does not count. */
export interface Value {
  option: RouteOption
  distribution: Beta
  less: number | null
}

/** Cost counts only where it is known of every provider: one without a price would look free. */
export function valuesOf(options: readonly RouteOption[], worth_micros: number, prior: Evidence): Value[] {
  const counts = worth_micros > 0 && options.every(({ cost_micros }) => cost_micros !== null)
  return options.map(option => ({
    option,
    distribution: betaOf(evidenceOf(option), prior),
    less: counts ? (option.cost_micros ?? 0) / worth_micros : null,
  }))
}

const evidenceOf = ({ fact }: RouteOption): Evidence => fact?.evidence ?? { approved: 0, missed: 0 }
export const meanValue = ({ distribution, less }: Value): number => meanOf(distribution) - (less ?? 0)

/** Where several are equal, the one that is listed first. */
const highestOf = (values: readonly Value[]): Value | undefined =>
  values.reduce<Value | undefined>((best, one) => (best && meanValue(best) >= meanValue(one) ? best : one), undefined)

/** Gives all but the first their chance to be the best, by evidence that counts `certainty` times: `floor` at least, and together `most` at
 *  most. */
function explore(
  values: readonly Value[],
  first: Value | undefined,
  { floor, most, certainty }: { floor: number; most: number; certainty: number },
  shares: Map<RouteOption, number>,
): void {
  const chances = chancesToBeHighest(
    values.map(({ option, distribution: { alpha, beta }, less }) => {
      const { approved, missed } = evidenceOf(option)
      const more = certainty - 1
      return { distribution: { alpha: alpha + more * approved, beta: beta + more * missed }, less }
    }),
  )
  const aboveFloor = values.map((value, nth) => (value === first ? 0 : Math.max(0, (chances[nth] ?? 0) - floor)))
  const wanted = aboveFloor.reduce((sum, above) => sum + above, 0)
  const scale = Math.min(1, (most - floor * (values.length - 1)) / Math.max(wanted, Number.MIN_VALUE))
  for (const [nth, value] of values.entries())
    if (value !== first) shares.set(value.option, floor + scale * (aboveFloor[nth] ?? 0))
}

/** The order for one message. The first is drawn by the shares. Behind it come the others in the same way, those without a share as
 *  listed, and the silent ones last. */
export function drawOrder(
  shares: readonly RouteShare[],
  random: () => number,
): { order: string[]; because: LearnedReason | null } {
  const left = [...shares]
  const first = draw(left, random)
  if (!first) return { order: [], because: null }
  const others = left.filter(({ rule }) => rule !== 'probe')
  const silent = left.filter(({ rule }) => rule === 'probe')
  const order = [first.provider]
  for (let next = draw(others, random); next; next = draw(others, random)) order.push(next.provider)
  order.push(...silent.map(({ provider }) => provider))
  const { rule, share, mean, less } = first
  if (rule === null) return { order, because: null }
  const because: LearnedReason = { rule, share: rounded(share), conversion: rounded(mean) }
  if (less !== null) because.less = rounded(less)
  return { order, because }
}

/** The same shares while the circuit breakers of some are open: `drawOrder` passes their messages on by the shares of the others, and to a
 *  silent provider last. */
export function passedOn(shares: readonly RouteShare[], isOpen: (provider: string) => boolean): RouteShare[] {
  const open = shares.filter(({ provider }) => isOpen(provider))
  const closed = shares.filter(one => !open.includes(one))
  const taking = closed.filter(({ rule }) => rule !== 'probe')
  const [passed, taken] = [sumOf(open), sumOf(taking)]
  const next = taking[0] ?? closed[0]
  return shares.map(one => {
    if (open.includes(one)) return { ...one, share: 0 }
    if (taken === 0) return one === next ? { ...one, share: one.share + passed } : one
    return taking.includes(one) ? { ...one, share: one.share + (passed * one.share) / taken } : one
  })
}

const sumOf = (shares: readonly RouteShare[]): number => shares.reduce((total, { share }) => total + share, 0)

/** Takes one out by the shares; the first where no share is left. */
function draw(left: RouteShare[], random: () => number): RouteShare | undefined {
  let rest = random() * sumOf(left)
  const drawn = left.findIndex(({ share }) => {
    rest -= share
    return rest < 0
  })
  return left.splice(Math.max(0, drawn), 1)[0]
}

export const rounded = (share: number): number => Math.round(share * 1_000) / 1_000

/** With a decimal only below 10: 2, 0.5, 81. */
export const percentOf = (share: number): number =>
  share < 0.0995 ? Math.round(share * 1_000) / 10 : Math.round(share * 100)

/** Moves a provider up the list, to the place of the one that it was compared with. Those before that were not compared, and stay. */
export interface Move {
  provider: string
  to: number
}

/** A better provider than the first that is not silent, for an app that keeps the listed order, and why. Null where the
 *  evidence is not sure. Only one provider moves up: the evidence about the others is of messages that came to them
 *  second. */
export function suggestionOf(
  options: readonly RouteOption[],
  worth_micros: number,
  { prior, messages }: { prior: Evidence; messages: number },
): (Move & { because: string }) | null {
  const values = comparedValues(options, worth_micros, prior)
  const [first, best] = [values[0], highestOf(values)]
  if (!first || !best || best === first || messages < MIN_MESSAGES) return null
  const gain = meanValue(best) - meanValue(first)
  const [chance = 0] = chancesToBeHighest([best, first])
  if (gain < SUGGEST_GAIN || chance < SUGGEST_CHANCE) return null
  return {
    provider: best.option.provider,
    to: first.option.listed,
    because: `${inWords(best, prior)}; ${inWords(first, prior)}`,
  }
}

/** In the listed order. A silent provider is not compared: it gets hardly any messages, and its place is its own once it recovers. */
export const comparedValues = (options: readonly RouteOption[], worth_micros: number, prior: Evidence): Value[] =>
  valuesOf(
    options.toSorted((one, other) => one.listed - other.listed).filter(option => !isSilent(option)),
    worth_micros,
    prior,
  )

function inWords({ option, less }: Value, prior: Evidence): string {
  const { mean, low, high } = estimate(evidenceOf(option), prior)
  const cost = less === null ? '' : `, less ${percentOf(less)} % for its cost`
  return `${option.provider} converts ${percentOf(mean)} % (${percentOf(low)} to ${percentOf(high)} %)${cost}`
}
