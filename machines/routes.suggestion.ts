// A better order for an app that keeps the listed one. The list is the same in every country, so what one country gains, another may lose:
// an order is suggested only where all countries together gain. Pure.
import { isSilent, meanValue, type RouteOption, rounded, suggestionOf, valuesOf } from './routes.order.ts'
import type { Evidence } from './routes.ts'

/** The providers of a channel that may be used in one country. */
export interface RoutePlace {
  country: string | null
  /** Of the last 30 days. */
  messages: number
  options: readonly RouteOption[]
}

export interface Suggestion {
  /** The provider that is to be the first. */
  first: string
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
    const found = suggestionOf(place.options, worth_micros, prior)
    if (!found) continue
    const { first, because } = found
    const gained = places.reduce((sum, one) => sum + one.messages * gainIn(one, first, worth_micros, prior), 0)
    const gain = rounded(gained / messages)
    if (gain > (best?.gain ?? 0)) best = { first, gain, because: `${placeWords(place)}${because}.` }
  }
  return best
}

const placeWords = ({ country }: RoutePlace): string => (country === null ? '' : `In ${country}, `)

/** What one message gains where `first` gets it in place of the first in the list. */
function gainIn({ options }: RoutePlace, first: string, worth_micros: number, prior: Evidence): number {
  const listed = options.toSorted((one, other) => one.listed - other.listed).filter(option => !isSilent(option))
  const values = valuesOf(listed, worth_micros, prior)
  const chosen = values.find(({ option }) => option.provider === first)
  return chosen && values[0] ? meanValue(chosen) - meanValue(values[0]) : 0
}
