// The names of what is counted. In: an app's world and a recipient or an address in the clear. Out: the counter's name under the current
// data key, and those it had under the others, so that a limit goes on where it was when keys rotate.
import { addressBlock } from '../../../infra/client-ip.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { CounterDoc, OtpDoc } from './documents.ts'
import { addressScope, recipientKey, recipientScope } from './encryption-context.ts'

export type AppMode = Pick<OtpDoc, 'app_id' | 'mode'>

export interface CounterName {
  key: string
  /** Under every other data key. */
  formerKeys: readonly string[]
}

type Indexer = Pick<Keyring, 'indexes'>

export const counterKey = ({ app_id, mode }: AppMode, ...segments: string[]): string =>
  [app_id, mode, ...segments].join(':')

/** What is counted of a recipient. Guesses are apart for what servers and what devices started. */
export type RecipientCount = 'sends' | 'messages' | 'guesses:server' | 'guesses:publishable'
export const RECIPIENT_COUNTS: readonly RecipientCount[] = [
  'sends',
  'messages',
  'guesses:server',
  'guesses:publishable',
]

/** What a recipient is found by: the current key's first. */
export const recipientIndexes = (keyring: Indexer, { app_id, mode }: AppMode, recipient: string): string[] =>
  keyring.indexes(recipientScope(app_id, mode), recipientKey(recipient))

/** `indexes` as `recipientIndexes` gives them. */
export const recipientCounter = (appMode: AppMode, what: RecipientCount, indexes: readonly string[]): CounterName =>
  counterName(appMode, what, indexes)

export const addressCounter = (keyring: Indexer, appMode: AppMode, address: string): CounterName =>
  counterName(appMode, 'client_ip', keyring.indexes(addressScope(appMode.app_id, appMode.mode), addressBlock(address)))

const counterName = (appMode: AppMode, what: string, indexes: readonly string[]): CounterName => {
  const [key = '', ...formerKeys] = indexes.map(index => counterKey(appMode, what, index))
  return { key, formerKeys }
}

/** What was counted under another key is copied to its name of today, unless it has one. Answers what was found under another key. */
export async function copyFormerCounters(
  counters: Pick<Docs<CounterDoc>, 'get' | 'insert'>,
  names: readonly CounterName[],
): Promise<ReadonlySet<string>> {
  const asked = names.flatMap(({ formerKeys }) => formerKeys)
  if (asked.length === 0) return new Set()
  const found = await counters.get(asked)
  const copies = names.flatMap(({ key, formerKeys }) => {
    const former = formerKeys.flatMap(name => found.get(name) ?? [])[0]
    return former ? [{ ...former, _id: key }] : []
  })
  if (copies.length > 0) await counters.insert(copies)
  return new Set(copies.map(({ _id }) => _id))
}
