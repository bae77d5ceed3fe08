// Which provider comes first: Thompson sampling by its probabilities, with evidence that counts several times. In: the providers that may be
// used and the facts about them. Out: the share of messages that each gets first, and an order drawn by the shares. The shares are computed
// once per facts; only the draw is per message, with a random function that the caller seeds. Pure.
import type { RouteReason } from './otp.ts'
import { type Beta, betaOf, chancesToBeHighest, meanOf } from './routes.beta.ts'
import { estimate } from './routes.estimate.ts'
import type { Evidence, RouteFact } from './routes.ts'

/** A provider that may be used for the message: it serves the country, and is neither paused nor shut. */
export interface RouteOption {
  provider: string
  fact: RouteFact | null
  /** What the vendor charges for a message; null where it is not known. */
  cost_micros: number | null
  /** Its place in the list. */
  listed: number
}

export interface RouteShare {
  provider: string
  /** Its conversion by the evidence. */
  mean: number
  /** The share of messages for which it comes first. */
  share: number
  /** Why it comes first when it does; null for the plain listed order. */
  rule: RouteReason['rule'] | null
}

export interface RouteRule {
  providers: 'listed' | 'best'
  /** What an approval is worth; 0: cost does not count. */
  worth_micros: number
}

/** Fewer messages in a country are too few to learn from. */
const MIN_MESSAGES = 50
/** Every provider gets this share, so that a better one, and a recovery, is noticed. */
const MIN_SHARE = 0.02
/** All providers but the best get no more than this together. */
const MAX_EXPLORED = 0.2
/** Where the others get their chances, evidence counts once for every `MIN_MESSAGES` messages that the country had in 30 days, and so many
 *  times at most. It fades in days, and a provider with few messages is never known well: by its plain chance to be the best it would get
 *  twice its 2 % for ever (docs/routes-simulation.md). */
const MAX_CERTAINTY = 10
/** Silent providers keep this share together while it is not known whether the others do better. */
const UNSURE_SHARE = 0.5
/** A suggestion needs this much certainty, and this much gain. */
const SUGGEST_CHANCE = 0.95
const SUGGEST_GAIN = 0.01

export const isSilent = ({ fact }: RouteOption): boolean => fact !== null && fact.silence.since !== null
/** Where codes of the others are not entered either, it stands behind none of them. */
const standsBehind = (option: RouteOption): boolean => isSilent(option) && option.fact?.silence.others !== 'silent'
const isUnsure = ({ fact }: RouteOption): boolean => fact?.silence.others === 'unknown'
const messagesOf = (options: readonly RouteOption[]): number =>
  options.reduce((sum, { fact }) => sum + (fact?.messages ?? 0), 0)

/** Each provider's share of the messages, in the listed order. */
export function sharesOf(options: readonly RouteOption[], rule: RouteRule, prior: Evidence): RouteShare[] {
  const listed = options.toSorted((one, other) => one.listed - other.listed)
  const inFront = listed.filter(option => !standsBehind(option))
  // Where all are silent, none stands behind another.
  const usable = inFront.length === 0 ? listed : inFront
  const behind = listed.filter(option => !usable.includes(option))
  const messages = messagesOf(listed)
  const learns = rule.providers === 'best' && inFront.length > 0 && messages >= MIN_MESSAGES
  const values = valuesOf(usable, rule.worth_micros, prior)
  const first = learns ? highestOf(values) : values[0]
  const floor = Math.min(MIN_SHARE, MAX_EXPLORED / Math.max(1, listed.length - 1))
  const shares = new Map<RouteOption, number>()
  const unsure = behind.filter(isUnsure).length
  for (const option of behind) shares.set(option, isUnsure(option) ? UNSURE_SHARE / unsure : floor)
  const certainty = Math.min(MAX_CERTAINTY, messages / MIN_MESSAGES)
  if (learns) explore(values, first, { floor, most: MAX_EXPLORED - floor * behind.length, certainty }, shares)
  // A change is noticed only if the others get some messages.
  else if (first && isSilent(first.option) && inFront.length > 0)
    for (const option of usable) if (option !== first.option) shares.set(option, floor)
  const given = [...shares.values()].reduce((sum, share) => sum + share, 0)
  if (first) shares.set(first.option, 1 - given)
  return listed.map((option, nth) => ({
    provider: option.provider,
    share: shares.get(option) ?? 0,
    mean: meanOf(betaOf(evidenceOf(option), prior)),
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

/** A provider's conversion, and what its cost takes off. */
export interface Value {
  option: RouteOption
  distribution: Beta
  less: number
}

/** Cost counts only where it is known of every provider: one without a price would look free. */
export function valuesOf(options: readonly RouteOption[], worth_micros: number, prior: Evidence): Value[] {
  const counts = worth_micros > 0 && options.every(({ cost_micros }) => cost_micros !== null)
  return options.map(option => ({
    option,
    distribution: betaOf(evidenceOf(option), prior),
    less: counts ? (option.cost_micros ?? 0) / worth_micros : 0,
  }))
}

const evidenceOf = ({ fact }: RouteOption): Evidence => fact?.evidence ?? { approved: 0, missed: 0 }
export const meanValue = ({ distribution, less }: Value): number => meanOf(distribution) - less

/** Of equal ones, the one that is listed first. */
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
): { order: string[]; because: RouteReason | null } {
  const left = [...shares]
  const first = draw(left, random)
  if (!first) return { order: [], because: null }
  const others = left.filter(({ rule }) => rule !== 'probe')
  const silent = left.filter(({ rule }) => rule === 'probe')
  const order = [first.provider]
  for (let next = draw(others, random); next; next = draw(others, random)) order.push(next.provider)
  order.push(...silent.map(({ provider }) => provider))
  const { rule, share, mean } = first
  return { order, because: rule === null ? null : { rule, share: rounded(share), conversion: rounded(mean) } }
}

/** Takes one out by the shares; the first where no share is left. */
function draw(left: RouteShare[], random: () => number): RouteShare | undefined {
  const sum = left.reduce((total, { share }) => total + share, 0)
  let rest = random() * sum
  const drawn = left.findIndex(({ share }) => {
    rest -= share
    return rest < 0
  })
  return left.splice(Math.max(0, drawn), 1)[0]
}

export const rounded = (share: number): number => Math.round(share * 1_000) / 1_000

/** A better first provider for an app that keeps the listed order, and why. Null where the evidence is not sure. Only the first place
 *  changes: the evidence about the others is of messages that came to them second. */
export function suggestionOf(
  options: readonly RouteOption[],
  worth_micros: number,
  prior: Evidence,
): { first: string; because: string } | null {
  const listed = options.toSorted((one, other) => one.listed - other.listed)
  const values = valuesOf(
    listed.filter(option => !isSilent(option)),
    worth_micros,
    prior,
  )
  const [first, best] = [values[0], highestOf(values)]
  if (!first || !best || best === first || messagesOf(listed) < MIN_MESSAGES) return null
  const gain = meanValue(best) - meanValue(first)
  const [chance = 0] = chancesToBeHighest([best, first])
  if (gain < SUGGEST_GAIN || chance < SUGGEST_CHANCE) return null
  return { first: best.option.provider, because: `${inWords(best, prior)}; ${inWords(first, prior)}` }
}

function inWords({ option, less }: Value, prior: Evidence): string {
  const { mean, low, high } = estimate(evidenceOf(option), prior)
  const percent = (share: number): string => `${Math.round(share * 100)}`
  const cost = less > 0 ? `, less ${percent(less)} % for its cost` : ''
  return `${option.provider} converts ${percent(mean)} % (${percent(low)} to ${percent(high)} %)${cost}`
}
