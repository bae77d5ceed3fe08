// What the fraud guard stores of numbers and mailboxes. In: a number. Out: the keyed id of its block of ten thousand
// numbers, what tells the number apart within the block, and the id of its own history, which is kept for what devices
// send in live mode. Also removes a number from its block when its recipient is erased.
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
import type { AppMode } from '../verifications/lookup-indexes.ts'
import type { BlockDoc, FraudStore, GuardScope, HistoryDoc } from './documents.ts'

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

/** The blocks that the number is in, one for each data key and kind of key: `numbers` is what they have of it, `others` the rest. */
export async function findInBlocks(
  store: FraudStore,
  keyring: AllKeysIndexer,
  appMode: AppMode,
  number: string,
): Promise<{ block: BlockDoc; numbers: BlockNumber[]; others: BlockNumber[] }[]> {
  const ids = keyring
    .indexes(scopeOf('block', appMode), blockOf(number))
    .flatMap(index => KEY_KINDS.map(kind => blockIdAt({ ...appMode, kind }, index)))
  const tags = keyring.indexes(scopeOf('number', appMode), number).map(index => index.slice(0, TAG_CHARS))
  return [...(await store.docs('fraud_blocks').get(ids)).values()]
    .map(block => ({
      block,
      numbers: block.state.numbers.filter(({ tag }) => tags.includes(tag)),
      others: block.state.numbers.filter(({ tag }) => !tags.includes(tag)),
    }))
    .filter(({ numbers }) => numbers.length > 0)
}

/** Answers how many blocks the number was in. */
export async function forgetNumber(
  store: FraudStore,
  keyring: AllKeysIndexer,
  appMode: AppMode,
  number: string,
): Promise<number> {
  let forgotten = 0
  // Other processes add numbers to the block all the time.
  return retryAfterLostRace('a block of numbers', async () => {
    const found = await findInBlocks(store, keyring, appMode, number)
    if (found.length === 0) return forgotten
    const answers = await store
      .docs('fraud_blocks')
      .change(
        found.map(({ block: { _id, rev }, others }) => ({ _id, rev, update: { $set: { 'state.numbers': others } } })),
      )
    forgotten += answers.filter(answer => answer === 'won').length
    return LOST
  })
}

/** `index`: from `mailboxIndex`. */
export const historyId = (appMode: AppMode, index: string): string => counterKey(appMode, index)

export const mailDomainIndex = (keyring: Indexer, { app_id, mode }: AppMode, domain: string): string =>
  keyring.index(`fraud mail domain:${app_id}:${mode}`, domain)

/** When the latest entry of a history was made. */
export const lastInHistory = ({ state: { messages, starts, approved_at } }: HistoryDoc): number =>
  Math.max(approved_at, ...messages, ...starts)
