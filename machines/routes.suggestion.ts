// A better order for an app that keeps the listed one. The list is the same in every country, so what one country gains, another may lose:
// an order is suggested only where all countries together gain. Pure.
import { comparedValues, type Move, meanValue, type RouteOption, rounded, suggestionOf } from './routes.order.ts'
import type { Evidence } from './routes.ts'

/** The providers of a channel that may be used in one country. */
export interface RoutePlace {
  country: string | null
  /** Of the last 30 days, also of providers that may no longer be used. */
  messages: number
  options: readonly RouteOption[]
}

export interface Suggestion extends Move {
  /** Approvals per message, less cost, over all countries. */
  gain: number
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
    const gained = places.reduce((sum, one) => sum + one.messages * gainIn(one, found, worth_micros, prior), 0)
    const gain = rounded(gained / messages)
    if (gain > (best?.gain ?? 0)) best = { ...found, gain, because: `${placeWords(place)}${found.because}.` }
  }
  return best
}

const placeWords = ({ country }: RoutePlace): string => (country === null ? '' : `In ${country}, `)

/** What one message gains in a country by the move. Nothing where a provider that stays before it is the first. */
function gainIn({ options }: RoutePlace, { provider, to }: Move, worth_micros: number, prior: Evidence): number {
  const values = comparedValues(options, worth_micros, prior)
  const [first] = values
  const moved = values.find(({ option }) => option.provider === provider)
  return first && moved && first.option.listed >= to ? meanValue(moved) - meanValue(first) : 0
}
