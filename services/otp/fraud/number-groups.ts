// The groups in which a phone number is counted. In: a number and its country. Out: the names of its country and of its range of a million
// numbers, the keyed id of its block of ten thousand, and its tag in that block.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { BlockNumber } from '../../../machines/fraud.number-block.ts'
import { tallyId } from '../../domain/fraud/documents.ts'
import { BLOCK_DIGITS, blockId, blockOf, blockScope, tagOf } from '../../domain/fraud/number-blocks.ts'
import type { AppMode } from '../../domain/verifications/lookup-indexes.ts'

export interface NumberGroups {
  country: { name: string; key: string }
  range: { name: string; key: string }
  block: string
  number: Pick<BlockNumber, 'tag' | 'hundred'>
}

export interface GroupedNumber {
  number: string
  country: string | null
  /** The recipient's keyed index. */
  index: string
}

const NO_COUNTRY = 'no country'
/** How many of the last digits differ within a range and within a hundred. */
const RANGE_DIGITS = 6
const HUNDRED_DIGITS = 2

export function numberGroupsOf(
  keyring: Pick<Keyring, 'index'>,
  appMode: AppMode,
  { number, country, index }: GroupedNumber,
): NumberGroups {
  const { app_id, mode } = appMode
  const named = (name: string) => ({ name, key: tallyId(app_id, mode, name) })
  return {
    country: named(country ?? NO_COUNTRY),
    range: named(number.slice(0, -RANGE_DIGITS)),
    block: blockId(appMode, keyring.index(blockScope(appMode), blockOf(number))),
    number: { tag: tagOf(index), hundred: number.slice(-BLOCK_DIGITS, -HUNDRED_DIGITS) },
  }
}
