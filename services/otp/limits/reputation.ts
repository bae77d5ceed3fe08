// The reputation of a client address. In: an address. Out: the worst class of the address lists that contain it. The lists are read again
// every few seconds.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { createCurrentClassifier } from './current-address-lists.ts'

/** A send from an `abusive` address is refused; a `suspect` address (VPN, proxy, Tor, datacenter) gets a lower limit. */
export type Reputation = 'abusive' | 'suspect' | 'unknown'

export interface ReputationDeps {
  store: Pick<CountersignStore, 'docs'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** The address must be in the form that `publicIpAddress` of infra/ip-address.ts returns. */
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
