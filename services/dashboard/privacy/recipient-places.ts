// Where the documents of a recipient are in an app, in both modes and under every data key: for an erasure, and for an export. In: an app
// and a recipient. Out: keyed indexes, ids and filters.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { MODES, type Mode } from '../../../machines/otp.ts'
import { historyId } from '../../domain/fraud/numbers.ts'
import { refusedRecipientIndexes } from '../../domain/refusals/refusal-log.ts'
import { counterKey, RECIPIENT_COUNTS } from '../../domain/verifications/counter-names.ts'
import { mailboxIndexes, sandboxIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { allRecipientIndexes } from '../recipients.ts'

type Indexer = Pick<Keyring, 'indexes'>

/** By these, verifications, refusals, decisions of the fraud guard and the journal of erasures name the recipient. */
export const recordIndexes = (keyring: Indexer, app_id: string, recipient: string): string[] =>
  unique([
    ...allRecipientIndexes(keyring, app_id, recipient),
    ...MODES.flatMap(mode => refusedRecipientIndexes(keyring, { app_id, mode }, recipient)),
  ])

/** Limits count a mailbox: all spellings of its address together. */
export const mailboxCountIndexes = (keyring: Indexer, app_id: string, recipient: string): string[] =>
  unique(MODES.flatMap(mode => mailboxIndexes(keyring, { app_id, mode }, recipient)))

/** A counter, or the history of a number. */
export interface CountId {
  id: string
  mode: Mode
  /** What a counter counts; null of a history. */
  what: string | null
}

/** The counters and histories that may be under these indexes, which do not say their mode. */
export function countIds(app_id: string, indexes: readonly string[]): { counters: CountId[]; histories: CountId[] } {
  const appModes = MODES.map(mode => ({ app_id, mode }))
  return {
    counters: appModes.flatMap(appMode =>
      RECIPIENT_COUNTS.flatMap(what =>
        indexes.map(index => ({ id: counterKey(appMode, what, index), mode: appMode.mode, what })),
      ),
    ),
    histories: appModes.flatMap(appMode =>
      indexes.map(index => ({ id: historyId(appMode, index), mode: appMode.mode, what: null })),
    ),
  }
}

/** Sandbox messages may outlive their verification. */
export const sandboxFilter = (keyring: Indexer, app_id: string, recipient: string) => ({
  app_id,
  recipient: { $in: sandboxIndexes(keyring, recipient) },
})

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]
