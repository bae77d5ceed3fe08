// Classifies addresses. In: the sets of all address lists. Out: the worst class of an address, found with at most five binary searches,
// one for each class. Pure.

import { ADDRESS_CLASSES, type AddressClass } from '../../domain/address-lists/documents.ts'
import type { AddressSet } from '../../domain/address-lists/intervals.ts'
import { includesAddress, unionOf } from '../../domain/address-lists/intervals.ts'
import { createRangeBuffer, parseAddress } from '../../domain/address-lists/notation.ts'

/** Null for an address in no list, and for a text that is no address. */
export type AddressClassifier = (address: string) => AddressClass | null

export function createAddressClassifier(lists: readonly { class: AddressClass; set: AddressSet }[]): AddressClassifier {
  const classes = ADDRESS_CLASSES.flatMap(addressClass => {
    const sets = lists.filter(list => list.class === addressClass).map(({ set }) => set)
    return sets.length === 0 ? [] : [{ class: addressClass, ...unionOfSets(sets) }]
  })
  const address = createRangeBuffer()
  return text => {
    const words = parseAddress(text, address)
    if (words === 0) return null
    return classes.find(({ v4, v6 }) => includesAddress(words === 1 ? v4 : v6, address))?.class ?? null
  }
}

const unionOfSets = (sets: readonly AddressSet[]): AddressSet => {
  const v4 = sets.map(set => set.v4)
  const v6 = sets.map(set => set.v6)
  return { v4: unionOf(1, v4), v6: unionOf(4, v6) }
}
