// All lists as one: a set of addresses per class. In: the sets of the lists. Out: the worst class of an address, by five binary searches
// at most. Pure.

import type { IpClass } from '../../domain/address-lists/documents.ts'
import { IP_CLASSES } from '../../domain/address-lists/documents.ts'
import { holds, unionOf } from '../../domain/address-lists/intervals.ts'
import { readAddress, scratch } from '../../domain/address-lists/notation.ts'
import type { AddressSet } from '../../domain/address-lists/read.ts'

/** Null for an address in no list, and for what is none. */
export type View = (address: string) => IpClass | null

export function viewOf(lists: readonly { class: IpClass; set: AddressSet }[]): View {
  const classes = IP_CLASSES.flatMap(of => {
    const sets = lists.filter(list => list.class === of).map(({ set }) => set)
    return sets.length === 0 ? [] : [{ class: of, ...joined(sets) }]
  })
  const address = scratch()
  return text => {
    const words = readAddress(text, address)
    if (words === 0) return null
    return classes.find(({ v4, v6 }) => holds(words === 1 ? v4 : v6, address))?.class ?? null
  }
}

const joined = (sets: readonly AddressSet[]): AddressSet => {
  const [v4, v6] = [sets.map(set => set.v4), sets.map(set => set.v6)]
  return { v4: unionOf(1, v4), v6: unionOf(4, v6) }
}
