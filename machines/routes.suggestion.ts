// A better order for an app that keeps the listed one. The list is the same in every country, so what one country gains, another may lose:
// an order is suggested only where all countries together gain. Pure.
import { meanOf } from './routes.beta.ts'
import {
  comparedValues,
  type Move,
  meanValue,
  type RouteOption,
  rounded,
  suggestionOf,
  type Value,
} from './routes.order.ts'
import type { Evidence } from './routes.ts'

/** The providers of a channel that may be used in one country. */
export interface RoutePlace {
  country: string | null
  /** The messages of the last 30 days, also of providers that may no longer be used. */
  messages: number
  options: readonly RouteOption[]
}

export interface Suggestion extends Move {
  /** Approvals per message, less cost, over all countries. */
  gain: number
  /** How many more messages would be approved, per message over all countries. */
  approvals: number
  /** How much more a message would cost on average over all countries, by the costs that count. Null where cost counts
   *  in none that the move changes. */
  cost_micros: number | null
  because: string
}

/** `isAsked`: the countries whose evidence may suggest an order. */
export function suggestionOver(
  places: readonly RoutePlace[],
  isAsked: (place: RoutePlace) => boolean,
  worth_micros: number,
  prior: Evidence,
): Suggestion | null {
  const messages = places.reduce((sum, place) => sum + place.messages, 0)
  let best: Suggestion | null = null
  for (const place of places.filter(isAsked)) {
    const found = suggestionOf(place.options, worth_micros, { prior, messages: place.messages })
    if (!found) continue
    const changes = places.flatMap(one => changeIn(one, found, worth_micros, prior) ?? [])
    const perMessage = (of: (change: Change) => number): number =>
      changes.reduce((sum, one) => sum + one.messages * of(one), 0) / messages
    const gain = rounded(perMessage(one => one.gain))
    if (gain <= (best?.gain ?? 0)) continue
    const priced = changes.filter(one => one.cost_micros !== null)
    best = {
      ...found,
      gain,
      approvals: rounded(perMessage(one => one.approvals)),
      cost_micros: priced.length === 0 ? null : Math.round(perMessage(one => one.cost_micros ?? 0)),
      because: `${placeWords(place)}${found.because}.${unknownCostWords(priced.length, changes.length)}`,
    }
  }
  return best
}

/** What is taken off in one country is not in the others, and the change in cost is not all that would be paid. */
const unknownCostWords = (priced: number, changed: number): string =>
  priced > 0 && priced < changed
    ? ' Cost counts only in the countries where that of every provider is known, which is not so in all of them.'
    : ''

const placeWords = ({ country }: RoutePlace): string => (country === null ? '' : `In ${country}, `)

const costOf = ({ option }: Value): number => option.cost_micros ?? 0

/** What the move changes in one country, for one message. */
interface Change {
  messages: number
  gain: number
  approvals: number
  /** Null where cost does not count. */
  cost_micros: number | null
}

/** Null where nothing changes: a provider that stays before it is the first, or it is the first already. */
function changeIn(
  { options, messages }: RoutePlace,
  { provider, to }: Move,
  worth_micros: number,
  prior: Evidence,
): Change | null {
  const values = comparedValues(options, worth_micros, prior)
  const [first] = values
  const moved = values.find(({ option }) => option.provider === provider)
  if (!first || !moved || moved === first || first.option.listed < to) return null
  return {
    messages,
    gain: meanValue(moved) - meanValue(first),
    approvals: meanOf(moved.distribution) - meanOf(first.distribution),
    cost_micros: first.less === null ? null : costOf(moved) - costOf(first),
  }
}
