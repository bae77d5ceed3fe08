// A number's block of ten thousand: its keyed name, and what tells the number apart in it. And how it is taken out, when its owner is to
// be forgotten.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { type AppMode, counterKey, recipientIndexes } from '../verifications/counter-names.ts'
import type { FraudStore } from './documents.ts'

/** Digits a block leaves open. */
export const BLOCK_DIGITS = 4
const TAG_CHARS = 8

export const blockScope = ({ app_id, mode }: AppMode): string => `fraud block:${app_id}:${mode}`
export const blockOf = (number: string): string => number.slice(0, -BLOCK_DIGITS)
export const blockId = (appMode: AppMode, index: string): string => counterKey(appMode, index)
/** Of the recipient's keyed index. */
export const tagOf = (index: string): string => index.slice(0, TAG_CHARS)

/** Processes add to it all the time. */
const MAX_TRIES_AFTER_LOST_RACE = 10

/** In how many blocks it was: under each key there is one. */
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
