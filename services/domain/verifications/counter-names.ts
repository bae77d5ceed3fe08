// The ids of counters. In: an app, a mode, and a recipient or a client address in the clear. Out: the counter's key under the current data
// key and under the other data keys, so that a limit keeps its count when data keys are rotated.

import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isIpv4, networkOf } from '../../../infra/ip-address.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import type { CounterName, NetworkName } from '../../../machines/quotas.ts'
import type { CounterDoc } from './documents.ts'
import { type AppMode, addressScope } from './lookup-indexes.ts'

type AllKeysIndexer = Pick<Keyring, 'indexes'>

export const counterKey = ({ app_id, mode }: AppMode, ...segments: string[]): string =>
  [app_id, mode, ...segments].join(':')

/** Wrong codes are counted by the kind of key that started the verification, then by the kind of key that guesses. First guesses of a
 *  verification that the lock lets through are counted apart. */
export type GuessCount = `${'guesses' | 'first_guesses'}:${KeyKind}:${KeyKind}`

/** The counters of a recipient, apart for verifications that servers and that devices started. That of the sends also counts the
 *  messages, in windows of their own: most sends are a message, and one document costs half as much as two. That of `verified` lets the
 *  fraud guard count a number that devices verify once an hour. */
export type RecipientCount = `sends:${KeyKind}` | GuessCount | 'verified:publishable'

/** Every counter that a recipient can have. A server key cannot guess the code of a verification that a device started. */
export const RECIPIENT_COUNTS: readonly RecipientCount[] = [
  'sends:server',
  'sends:publishable',
  'guesses:server:server',
  'guesses:server:publishable',
  'guesses:publishable:publishable',
  'first_guesses:server:server',
  'first_guesses:server:publishable',
  'first_guesses:publishable:publishable',
  'verified:publishable',
]

/** `indexes`: from `mailboxIndexes`. */
export const recipientCounter = (appMode: AppMode, what: RecipientCount, indexes: readonly string[]): CounterName =>
  counterName(appMode, what, indexes)

const IPV4_NETWORKS = [{ bits: 32, limitFactor: 1 }]
/** An IPv6 user can take any address of a /64, and many providers give a customer a whole /56 or /48; a /40 can be rented. Each larger
 *  network has a higher limit, because it may also have many customers. */
const IPV6_NETWORKS = [
  { bits: 64, limitFactor: 1 },
  { bits: 56, limitFactor: 4 },
  { bits: 48, limitFactor: 16 },
  { bits: 40, limitFactor: 64 },
]

/** An IPv4 address is one network; an IPv6 address is in several, the smallest first. */
export const networksOf = (address: string): { network: string; limitFactor: number }[] =>
  (isIpv4(address) ? IPV4_NETWORKS : IPV6_NETWORKS).map(({ bits, limitFactor }) => ({
    network: networkOf(address, { ipv4: bits, ipv6: bits }),
    limitFactor,
  }))

/** One counter for each network. */
export function addressCounters(keyring: AllKeysIndexer, appMode: AppMode, address: string): NetworkName[] {
  const scope = addressScope(appMode.app_id, appMode.mode)
  return networksOf(address).map(({ network, limitFactor }) => ({
    ...counterName(appMode, 'client_ip', keyring.indexes(scope, network)),
    limitFactor,
  }))
}

const counterName = (appMode: AppMode, what: string, [current = '', ...former]: readonly string[]): CounterName => ({
  key: counterKey(appMode, what, current),
  formerKeys: former.map(index => counterKey(appMode, what, index)),
})

/** Copies counters that exist under another data key to their current key, unless they exist there. Resolves with the current keys of
 *  the counters found under another data key. */
export async function copyFormerCounters(
  counters: Pick<Docs<CounterDoc>, 'get' | 'insert'>,
  names: readonly CounterName[],
): Promise<ReadonlySet<string>> {
  const allFormerKeys = names.flatMap(({ formerKeys = [] }) => formerKeys)
  if (allFormerKeys.length === 0) return new Set()
  const found = await counters.get(allFormerKeys)
  const copies = names.flatMap(({ key, formerKeys = [] }) => {
    const former = formerKeys.flatMap(formerKey => found.get(formerKey) ?? [])[0]
    return former ? [{ ...former, _id: key }] : []
  })
  if (copies.length > 0) await counters.insert(copies)
  return new Set(copies.map(({ _id }) => _id))
}
