// All lists as one: a set of addresses per class. In: the sets of the lists. Out: the worst class of an address, by five binary searches
// at most. Pure.

import type { IpClass } from '../../domain/address-lists/documents.ts'
import { IP_CLASSES } from '../../domain/address-lists/documents.ts'
import { includesAddress, unionOf } from '../../domain/address-lists/intervals.ts'
import type { AddressSet } from '../../domain/address-lists/list-parser.ts'
import { createRangeBuffer, parseAddress } from '../../domain/address-lists/notation.ts'

/** Null for an address in no list, and for what is none. */
export type AddressClassifier = (address: string) => IpClass | null

export function createAddressClassifier(lists: readonly { class: IpClass; set: AddressSet }[]): AddressClassifier {
  const classes = IP_CLASSES.flatMap(ipClass => {
    const sets = lists.filter(list => list.class === ipClass).map(({ set }) => set)
    return sets.length === 0 ? [] : [{ class: ipClass, ...unionOfSets(sets) }]
  })
  const address = createRangeBuffer()
  return text => {
    const words = parseAddress(text, address)
    if (words === 0) return null
    return classes.find(({ v4, v6 }) => includesAddress(words === 1 ? v4 : v6, address))?.class ?? null
  }
}

const unionOfSets = (sets: readonly AddressSet[]): AddressSet => {
  const [v4, v6] = [sets.map(set => set.v4), sets.map(set => set.v6)]
  return { v4: unionOf(1, v4), v6: unionOf(4, v6) }
}
