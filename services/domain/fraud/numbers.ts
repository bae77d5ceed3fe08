// What the fraud guard stores of numbers and mailboxes. In: a number. Out: the keyed id of its block of ten thousand
// numbers, what tells the number apart within the block, and the id of its own history, which is kept for what devices
// send in live mode. Also removes a number from its block, and its history, when its recipient is erased.
//
// Each index of a block has a scope of its own. A part of the recipient's index, or the two digits of the hundred in the clear, would let a
// thief of the store match the numbers of a block with verifications, whose masked recipients show the last two digits.
//
// Neither is put under new indexes when data keys rotate: a block counts one hour, a history reaches back a day, and both are counted anew
// under the new key.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { blockOf, hundredOf } from '../../../machines/fraud.groups.ts'
import type { BlockNumber } from '../../../machines/fraud.number-block.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import { counterKey } from '../verifications/counter-names.ts'
import { type AppMode, mailboxIndexes } from '../verifications/lookup-indexes.ts'
import type { FraudStore, GuardScope } from './documents.ts'

const KEY_KINDS: readonly KeyKind[] = ['server', 'publishable']
/** Enough to tell apart the numbers of a block. */
const TAG_CHARS = 8

type Indexer = Pick<Keyring, 'index'>
type AllKeysIndexer = Pick<Keyring, 'indexes'>

const scopeOf = (what: 'block' | 'hundred' | 'number', { app_id, mode }: AppMode): string =>
  `fraud ${what}:${app_id}:${mode}`

export const blockId = (keyring: Indexer, scope: GuardScope, number: string): string =>
  blockIdAt(scope, keyring.index(scopeOf('block', scope), blockOf(number)))

const blockIdAt = (scope: GuardScope, index: string): string => counterKey(scope, scope.kind, index)

export const blockTags = (
  keyring: Indexer,
  appMode: AppMode,
  number: string,
): Pick<BlockNumber, 'tag' | 'hundred'> => ({
  tag: keyring.index(scopeOf('number', appMode), number).slice(0, TAG_CHARS),
  hundred: keyring.index(scopeOf('hundred', appMode), hundredOf(number)).slice(0, TAG_CHARS),
})

/** Answers how many blocks the number was in: one for each data key and kind of key. */
export async function forgetNumber(
  store: FraudStore,
  keyring: AllKeysIndexer,
  appMode: AppMode,
  number: string,
): Promise<number> {
  const blocks = store.docs('fraud_blocks')
  const ids = keyring
    .indexes(scopeOf('block', appMode), blockOf(number))
    .flatMap(index => KEY_KINDS.map(kind => blockIdAt({ ...appMode, kind }, index)))
  const tags = keyring.indexes(scopeOf('number', appMode), number).map(index => index.slice(0, TAG_CHARS))
  let forgotten = 0
  // Other processes add numbers to the block all the time.
  return retryAfterLostRace('a block of numbers', async () => {
    const found = [...(await blocks.get(ids)).values()]
    const matching = found.filter(({ state }) => state.numbers.some(({ tag }) => tags.includes(tag)))
    if (matching.length === 0) return forgotten
    const answers = await blocks.change(
      matching.map(({ _id, rev, state }) => {
        const numbers = state.numbers.filter(({ tag }) => !tags.includes(tag))
        return { _id, rev, update: { $set: { 'state.numbers': numbers } } }
      }),
    )
    forgotten += answers.filter(answer => answer === 'won').length
    return LOST
  })
}

/** `index`: from `mailboxIndex`. */
export const historyId = (appMode: AppMode, index: string): string => counterKey(appMode, index)

export const mailDomainIndex = (keyring: Indexer, { app_id, mode }: AppMode, domain: string): string =>
  keyring.index(`fraud mail domain:${app_id}:${mode}`, domain)

/** Answers how many histories the recipient had: one for each data key at most. */
export function forgetHistory(
  store: FraudStore,
  keyring: Pick<Keyring, 'indexes'>,
  appMode: AppMode,
  recipient: string,
): Promise<number> {
  const ids = mailboxIndexes(keyring, appMode, recipient).map(index => historyId(appMode, index))
  return store.docs('fraud_numbers').remove({ _id: { $in: ids } }, ids.length)
}
