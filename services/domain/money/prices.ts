// What messages cost. In: the list of prices, of which some hold from a later time on. Out: the price of a message at a
// time. Nothing has to happen when a scheduled price begins to hold: each process computes it from the list and the
// time of the message. The list is one document, so a change of the prices is one write, and is never seen in part.
import type { Docs, RevisedDoc } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { collection } from '../../../infra/store/store.ts'
import type { Channel, Priced } from '../../../machines/channels.ts'
import { groupBy } from '../../../machines/group-by.ts'

export interface Price {
  channel: Channel
  /** Set for a reply in a WhatsApp chat; absent for other messages. */
  kind?: 'reply' | undefined
  /** ISO 3166-1 alpha-2, or `ANY_COUNTRY` for every country without a price of its own. */
  country: string
  micros: number
  /** From when it holds, in place of the price before it; absent where it has held since the list was saved. */
  effective_at?: number | undefined
}

export const ANY_COUNTRY = '*'

/** More than every country on every channel. */
export const MAX_PRICES = 2_000

/** All prices. They hold for all companies. */
export interface PricesDoc extends RevisedDoc {
  prices: Price[]
}

const PRICES_ID = 'all'

export const PRICE_COLLECTIONS = {
  prices: collection<PricesDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
}

type Prices = Docs<PricesDoc>

/** Undefined until prices are saved for the first time. */
export const readPrices = (docs: Pick<Prices, 'get'>): Promise<PricesDoc | undefined> => getOne(docs, PRICES_ID)

/** Answers false where the list is no longer the one that was read. */
export async function savePrices(
  docs: Pick<Prices, 'insert' | 'change'>,
  read: PricesDoc | undefined,
  prices: readonly Price[],
): Promise<boolean> {
  const sorted = sortPrices(prices)
  if (read === undefined) return (await docs.insert([{ _id: PRICES_ID, rev: 1, prices: sorted }]))[0] === 'inserted'
  return (await docs.change([{ _id: PRICES_ID, rev: read.rev, update: { $set: { prices: sorted } } }]))[0] === 'won'
}

/** As they are stored and listed. */
export const sortPrices = (prices: readonly Price[]): Price[] => prices.map(withoutUndefined).sort(byKey)

/** What the price is of. */
const pricedId = (priced: Priced, country: string): string => `${priced}:${country}`
const idOf = ({ kind, channel, country }: Price): string => pricedId(kind ?? channel, country)

/** Two prices of one key contradict each other. */
export const priceKey = (price: Price): string => `${idOf(price)}:${price.effective_at ?? ''}`

/** The prices in the order in which they begin to hold, by what they are of. */
const inOrder = (prices: readonly Price[]): Map<string, Price[]> =>
  groupBy(
    prices.toSorted((one, other) => (one.effective_at ?? 0) - (other.effective_at ?? 0)),
    idOf,
  )

const holdsAt =
  (at: number) =>
  ({ effective_at = at }: Price): boolean =>
    effective_at <= at

/** The prices that hold at a time, without the time from which they do, and those that are scheduled for later. */
export function pricesAt(prices: readonly Price[], at: number): Price[] {
  const all = [...inOrder(prices).values()].flatMap(ofOne => {
    const held = ofOne.findLast(holdsAt(at))
    return [
      ...(held ? [withoutUndefined({ ...held, effective_at: undefined })] : []),
      ...ofOne.filter(price => !holdsAt(at)(price)),
    ]
  })
  return all.sort(byKey)
}

/** The price of a message: that of its country, or that of all other countries, or nothing. */
export type PriceList = (priced: Priced, country: string | null, at: number) => number

export function priceList(prices: readonly Price[]): PriceList {
  const ordered = inOrder(prices)
  const find = (priced: Priced, country: string, at: number) =>
    ordered.get(pricedId(priced, country))?.findLast(holdsAt(at))?.micros
  return (priced, country, at) =>
    (country === null ? undefined : find(priced, country, at)) ?? find(priced, ANY_COUNTRY, at) ?? 0
}

const withoutUndefined = ({ channel, kind, country, micros, effective_at }: Price): Price => ({
  channel,
  ...(kind && { kind }),
  country,
  micros,
  ...(effective_at !== undefined && { effective_at }),
})

const byKey = (one: Price, other: Price): number => (priceKey(one) < priceKey(other) ? -1 : 1)
