// The ids of the histories of numbers. In: a recipient's keyed index. Out: the id. Also removes the history of a recipient that is erased.
//
// Histories are kept for what devices send in live mode, and not put under new indexes when data keys rotate: they reach back a day, and
// are counted anew under the new key.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { counterKey } from '../verifications/counter-names.ts'
import { type AppMode, recipientIndexes } from '../verifications/lookup-indexes.ts'
import type { FraudStore } from './documents.ts'

export const historyId = (appMode: AppMode, recipientIndex: string): string => counterKey(appMode, recipientIndex)

/** Answers how many histories the recipient had: one for each data key at most. */
export function forgetHistory(
  store: FraudStore,
  keyring: Pick<Keyring, 'indexes'>,
  appMode: AppMode,
  recipient: string,
): Promise<number> {
  const ids = recipientIndexes(keyring, appMode, recipient).map(index => historyId(appMode, index))
  return store.docs('fraud_numbers').remove({ _id: { $in: ids } }, ids.length)
}
