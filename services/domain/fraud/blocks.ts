// A number's block of ten thousand: its keyed name, and what tells the number apart in it. And how it is taken out, when its owner is to
// be forgotten.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { counterKey, recipientIndexes, type World } from '../verifications/counting.ts'
import type { FraudStore } from './documents.ts'

/** Digits a block leaves open. */
export const BLOCK_DIGITS = 4
const TAG_CHARS = 8

export const blockScope = ({ app_id, mode }: World): string => `fraud block:${app_id}:${mode}`
export const blockOf = (number: string): string => number.slice(0, -BLOCK_DIGITS)
export const blockId = (world: World, index: string): string => counterKey(world, index)
/** Of the recipient's keyed index. */
export const tagOf = (index: string): string => index.slice(0, TAG_CHARS)

/** Processes add to it all the time. */
const MOST_TRIES = 10

/** In how many blocks it was: under each key there is one. */
export async function forgetNumber(
  store: FraudStore,
  keyring: Pick<Keyring, 'indexes'>,
  world: World,
  number: string,
): Promise<number> {
  const blocks = store.docs('fraud_blocks')
  const ids = keyring.indexes(blockScope(world), blockOf(number)).map(index => blockId(world, index))
  const tags = recipientIndexes(keyring, world, number).map(tagOf)
  let forgotten = 0
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const found = [...(await blocks.get(ids)).values()]
    const telling = found.filter(({ state }) => state.numbers.some(({ tag }) => tags.includes(tag)))
    if (telling.length === 0) break
    const answers = await blocks.change(
      telling.map(({ _id, rev, state }) => {
        const numbers = state.numbers.filter(({ tag }) => !tags.includes(tag))
        return { _id, rev, update: { $set: { 'state.numbers': numbers } } }
      }),
    )
    forgotten += answers.filter(answer => answer === 'won').length
  }
  return forgotten
}
