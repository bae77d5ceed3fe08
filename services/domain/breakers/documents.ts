// What the processes of the channels report of their circuit breakers, for operators: one document per provider and process. A process
// writes when a breaker changes, and repeats itself slowly while it lives. A report past `valid_until` is that of a process that died.
import type { Doc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'

/** From the best to the worst. */
export const BREAKER_STATES = ['closed', 'half_open', 'open'] as const

/** `open`: the provider is not called. `half_open`: one call tests it. */
export type BreakerState = (typeof BREAKER_STATES)[number]

export interface BreakerDoc extends Doc {
  app_id: string
  provider: string
  /** Random, made anew at every start. */
  process: string
  state: BreakerState
  /** Since when the breaker is closed, or since when it is not. */
  since: number
  valid_until: number
  purge_at: Date
}

export const breakerId = ({ app_id, provider, process }: Pick<BreakerDoc, 'app_id' | 'provider' | 'process'>): string =>
  `${app_id}:${provider}:${process}`

export const BREAKER_COLLECTIONS = {
  breakers: collection<BreakerDoc>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [
      { fields: { app_id: 1 } },
      // The states `half_open` and `open`, which the alphabet puts behind `closed`.
      { fields: { state: 1 }, partial: { state: { $gt: 'closed' } } },
    ],
    purged: true,
  }),
}

/** A hundred providers of an app in a hundred processes. */
const MAX_REPORTS_PER_APP = 10_000

/** The reports about an app's providers that are still valid. */
export async function findBreakers(
  store: StoreOf<typeof BREAKER_COLLECTIONS>,
  app_id: string,
  now: number,
): Promise<BreakerDoc[]> {
  const found = await store.docs('breakers').find({ app_id }, { sort: { app_id: 1 }, limit: MAX_REPORTS_PER_APP })
  return found.filter(({ valid_until }) => valid_until > now)
}
