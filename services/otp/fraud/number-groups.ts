// The groups in which a phone number is counted. In: a number and its country. Out: the names of its country and of its range of a million
// numbers, the keyed id of its block of ten thousand, and its tags in that block.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { BlockNumber } from '../../../machines/fraud.number-block.ts'
import { type GuardScope, tallyId } from '../../domain/fraud/documents.ts'
import { blockId, blockTags } from '../../domain/fraud/number-blocks.ts'

export interface NumberGroups {
  country: { name: string; key: string }
  range: { name: string; key: string }
  block: string
  /** The kind of key and the recipient's keyed index. It tells numbers apart within this process, and is not stored in a block. */
  recipient: string
  /** Computed at the first call: a number without neighbours, as most are, needs none. */
  tags(): Pick<BlockNumber, 'tag' | 'hundred'>
}

export interface GroupedNumber {
  number: string
  country: string | null
  /** The recipient's keyed index. */
  index: string
}

const NO_COUNTRY = 'no country'
/** How many of the last digits differ within a range. */
const RANGE_DIGITS = 6

export function numberGroupsOf(
  keyring: Pick<Keyring, 'index'>,
  scope: GuardScope,
  { number, country, index }: GroupedNumber,
): NumberGroups {
  const named = (name: string) => ({ name, key: tallyId(scope, name) })
  let tags: Pick<BlockNumber, 'tag' | 'hundred'> | null = null
  return {
    country: named(country ?? NO_COUNTRY),
    range: named(number.slice(0, -RANGE_DIGITS)),
    block: blockId(keyring, scope, number),
    recipient: `${scope.kind}:${index}`,
    tags() {
      tags ??= blockTags(keyring, scope, number)
      return tags
    },
  }
}
