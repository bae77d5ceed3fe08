// What is known of an address: the worst class of the lists it stands in. Lists are looked at every few seconds.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { createCurrentClassifier } from './current-address-lists.ts'

/** `abusive` is refused, `suspect` (VPN, proxy, Tor, datacenter) is throttled. */
export type Reputation = 'abusive' | 'suspect' | 'unknown'

export interface ReputationDeps {
  store: Pick<CountersignStore, 'docs'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** In: an address as `usableAddress` gives it. */
export function createReputationLookup({ store, clock, log }: ReputationDeps) {
  const current = createCurrentClassifier({
    lists: store.docs('ip_lists'),
    chunks: store.docs('ip_chunks'),
    clock,
    log,
  })
  return async (address: string): Promise<Reputation> => {
    const worst = (await current())(address)
    if (worst === null) return 'unknown'
    return worst === 'abusive' ? 'abusive' : 'suspect'
  }
}
