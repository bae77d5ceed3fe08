// Blocks of ten thousand numbers. In: a number. Out: the keyed id of its block, and the tag of the number within the block. Also removes
// a number from its block when its recipient is erased.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { counterKey } from '../verifications/counter-names.ts'
import { type AppMode, recipientIndexes } from '../verifications/lookup-indexes.ts'
import type { FraudStore } from './documents.ts'

/** The last digits of a number, in which the numbers of a block differ. */
export const BLOCK_DIGITS = 4
const TAG_CHARS = 8

export const blockScope = ({ app_id, mode }: AppMode): string => `fraud block:${app_id}:${mode}`
export const blockOf = (number: string): string => number.slice(0, -BLOCK_DIGITS)
export const blockId = (appMode: AppMode, index: string): string => counterKey(appMode, index)
/** The beginning of the recipient's keyed index. */
export const tagOf = (index: string): string => index.slice(0, TAG_CHARS)

/** Other processes add numbers to the block all the time. */
const MAX_TRIES_AFTER_LOST_RACE = 10

/** Answers how many blocks the number was in: one for each data key. */
export async function forgetNumber(
  store: FraudStore,
  keyring: Pick<Keyring, 'indexes'>,
  appMode: AppMode,
  number: string,
): Promise<number> {
  const blocks = store.docs('fraud_blocks')
  const ids = keyring.indexes(blockScope(appMode), blockOf(number)).map(index => blockId(appMode, index))
  const tags = recipientIndexes(keyring, appMode, number).map(tagOf)
  let forgotten = 0
  for (let tries = 0; tries < MAX_TRIES_AFTER_LOST_RACE; tries += 1) {
    const found = [...(await blocks.get(ids)).values()]
    const matching = found.filter(({ state }) => state.numbers.some(({ tag }) => tags.includes(tag)))
    if (matching.length === 0) break
    const answers = await blocks.change(
      matching.map(({ _id, rev, state }) => {
        const numbers = state.numbers.filter(({ tag }) => !tags.includes(tag))
        return { _id, rev, update: { $set: { 'state.numbers': numbers } } }
      }),
    )
    forgotten += answers.filter(answer => answer === 'won').length
  }
  return forgotten
}
