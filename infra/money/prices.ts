// What a message costs: by channel and country, a price for every other country, else nothing.

import type { Channel } from '../../machines/channels.ts'
import { cached } from '../cache.ts'
import type { Clock } from '../clock.ts'
import type { Docs } from '../store/docs.ts'
import type { Price } from '../tenancy/documents.ts'

export type PriceList = (channel: Channel, country: string | null) => number

export interface Prices {
  /** A few seconds old at most. */
  list(): Promise<PriceList>
}

const FOR_MS = 5_000
const PAGE = 1_000
const EVERYWHERE = '*'

export function pricing({ prices, clock }: { prices: Pick<Docs<Price>, 'find'>; clock: Pick<Clock, 'now'> }): Prices {
  const all = cached(() => read(prices), { forMs: FOR_MS, most: 1, clock })
  return { list: () => all.get('all') }
}

async function read(prices: Pick<Docs<Price>, 'find'>): Promise<PriceList> {
  const micros = new Map<string, number>()
  let after = ''
  for (;;) {
    const page = await prices.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: PAGE })
    for (const price of page) micros.set(`${price.channel}:${price.country}`, price.micros)
    after = page.at(-1)?._id ?? ''
    if (page.length < PAGE) break
  }
  return (channel, country) =>
    (country === null ? undefined : micros.get(`${channel}:${country}`)) ?? micros.get(`${channel}:${EVERYWHERE}`) ?? 0
}
