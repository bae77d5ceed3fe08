// Finds lists that are probably a mistake. In: what the lists of a class hold, or the ranges of the bootstrap file. Out: whether they hold
// more than half of all addresses, and which of them an operator must confirm. An abusive list with `0.0.0.0/0` refuses every client, and
// so do two lists with one half each: the lists of a class count together. Lists that an operator has confirmed do not count.
import type { AddressListDoc, AddressShare } from './documents.ts'
import { type AddressSet, countAddresses, type Intervals, unionOf } from './intervals.ts'
import { createRangeBuffer, parseRange } from './notation.ts'

/** Where public client addresses are: all of IPv4, and the part of IPv6 that is assigned so far. */
const CLIENT_ADDRESS_SPACE = { 1: rangeOf('0.0.0.0/0'), 4: rangeOf('2000::/3') }

function rangeOf(cidr: string): Uint32Array {
  const range = createRangeBuffer()
  parseRange(cidr, range)
  return range
}

const shareOfFamily = (set: Intervals): number =>
  countAddresses(set, CLIENT_ADDRESS_SPACE[set.words]) / (set.words === 1 ? 2 ** 32 : 2 ** 125)

export const shareOf = ({ v4, v6 }: AddressSet): AddressShare => ({ v4: shareOfFamily(v4), v6: shareOfFamily(v6) })

/** More than half of the addresses of a family. */
const isMost = ({ v4, v6 }: AddressShare): boolean => v4 > 0.5 || v6 > 0.5

/** The share of lists that have no address in common. Others have less. */
const sumOf = (shares: readonly AddressShare[]): AddressShare => ({
  v4: shares.reduce((sum, { v4 }) => sum + v4, 0),
  v6: shares.reduce((sum, { v6 }) => sum + v6, 0),
})

/** `others`: of lists whose addresses are not known. They count as if no other list had the same addresses. */
function holdMost(sets: readonly AddressSet[], others: readonly AddressShare[] = []): boolean {
  const v4 = unionOf(
    1,
    sets.map(set => set.v4),
  )
  const v6 = unionOf(
    4,
    sets.map(set => set.v6),
  )
  return isMost(sumOf([shareOf({ v4, v6 }), ...others]))
}

/** The problem of what `findToConfirm` finds. */
export const CONFIRM_MOST_ADDRESSES =
  'holds more than half of all addresses, alone or with the others of its class: give "confirm": true with it if that is meant'

/** The lists of a class that holds most addresses: those that do so alone, or else the largest. */
export function findToConfirm<Item extends { set: AddressSet }>(items: readonly Item[]): Item[] {
  const alone = items.filter(({ set }) => isMost(shareOf(set)))
  if (alone.length > 0) return alone
  const size = ({ set }: Item): number => Math.max(...Object.values(shareOf(set)))
  return [...items].sort((one, other) => size(other) - size(one)).slice(0, 1)
}

/** Those to confirm among the ranges or lists of a class, none of which is stored. */
export const findUnconfirmedIn = <Item extends { set: AddressSet }>(items: readonly Item[]): Item[] =>
  holdMost(items.map(({ set }) => set)) ? findToConfirm(items) : []

const NO_ADDRESSES: AddressShare = { v4: 0, v6: 0 }
const ALL_ADDRESSES: AddressShare = { v4: 1, v6: 1 }

/** Whether new sets and stored lists of the same class hold most addresses together. A list whose text is being imported counts with its
 *  current version and with that text, because the import may fail. Versions are loaded only if the sum of the shares is more than half:
 *  lists may be large, and hardly ever hold so much. */
export async function holdMostWithStored(
  sets: readonly AddressSet[],
  stored: readonly AddressListDoc[],
  load: (list: AddressListDoc) => Promise<AddressSet | null>,
): Promise<boolean> {
  const counted = stored.filter(isUnconfirmed)
  const given = stored.flatMap(({ importing }) => importing?.share ?? [])
  if (!isMost(sumOf([...sets.map(shareOf), ...counted.map(greatestShare), ...given]))) return false
  const [known, unknown] = [[...sets], [...given]]
  for (const list of counted) {
    if (list.version === null) continue
    const set = await load(list)
    // An import has replaced the version in the meantime.
    if (set === null) unknown.push(greatestShare(list))
    else if (!isMost(shareOf(set))) known.push(set)
  }
  return holdMost(known, unknown)
}

/** A list that holds most addresses alone would not be stored if it had not been confirmed. */
const isUnconfirmed = ({ source, share }: AddressListDoc): boolean =>
  !(source.kind === 'given' && source.confirmed) && !(share !== undefined && isMost(share))

const greatestShare = ({ version, share = ALL_ADDRESSES }: AddressListDoc): AddressShare =>
  version === null ? NO_ADDRESSES : share
