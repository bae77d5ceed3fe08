// Counts of routes by slot, as a document of ten minutes holds them. In the store they are one text: a route, and for
// each of its slots the number of the slot, its messages, and those that were tried and approved: `server sms GB main=0
// 3 2 2 7 1 0 0;server sms DE main=4 1 1 0`.
import { MINUTE_MS } from '../../../infra/time.ts'
import { ROUTE_SLOT_MS, type RouteSlot } from '../../../machines/routes.ts'
import type { RouteEntry } from './contribution.ts'

/** By route, then by the beginning of the slot. */
export type Slots = Map<string, Map<number, RouteSlot>>
export type StoredSlots = string

/** The length of a document. */
export const SLOTS_DOC_MS = 10 * MINUTE_MS
/** The most in one document. What is more is left out: then the hours alone count it. */
const MAX_ROUTES_IN_SLOTS = 500

export const slotsDocOf = (at: number): number => at - (at % SLOTS_DOC_MS)

function slotIn(slots: Slots, route: string, start: number): RouteSlot | null {
  if (!slots.has(route) && slots.size >= MAX_ROUTES_IN_SLOTS) return null
  const ofRoute = slots.get(route) ?? new Map<number, RouteSlot>()
  slots.set(route, ofRoute)
  const counts = ofRoute.get(start) ?? { start, messages: 0, tried: 0, approved: 0 }
  ofRoute.set(start, counts)
  return counts
}

export function addToSlot(slots: Slots, { route, slot, tried, approved }: RouteEntry, by: 1 | -1): void {
  addCounts(slots, route, {
    start: slot,
    messages: by,
    tried: tried ? by : 0,
    approved: approved ? by : 0,
  })
}

function addCounts(slots: Slots, route: string, { start, messages, tried, approved }: RouteSlot): void {
  const counts = slotIn(slots, route, start)
  if (counts === null) return
  counts.messages += messages
  counts.tried += tried
  counts.approved += approved
}

export function addSlots(to: Slots, added: Slots): void {
  for (const [route, ofRoute] of added) for (const counts of ofRoute.values()) addCounts(to, route, counts)
}

const isZero = ({ messages, tried, approved }: RouteSlot): boolean => messages === 0 && tried === 0 && approved === 0

export const isZeroSlots = (slots: Slots): boolean =>
  [...slots.values()].every(ofRoute => [...ofRoute.values()].every(isZero))

export function encodeSlots(slots: Slots, docStart: number): StoredSlots {
  const stored: string[] = []
  for (const [route, ofRoute] of slots) {
    const counts = [...ofRoute.values()].filter(one => !isZero(one))
    const numbers = counts.map(
      ({ start, messages, tried, approved }) =>
        `${(start - docStart) / ROUTE_SLOT_MS} ${messages} ${tried} ${approved}`,
    )
    if (numbers.length > 0) stored.push(`${route}=${numbers.join(' ')}`)
  }
  return stored.join(';')
}

export function decodeSlots(stored: StoredSlots, docStart: number): Slots {
  const slots: Slots = new Map()
  for (const text of stored === '' ? [] : stored.split(';')) {
    const [route = '', numbers = ''] = text.split('=')
    const all = numbers.split(' ').map(Number)
    for (let at = 0; at < all.length; at += 4) {
      const [nth = 0, messages = 0, tried = 0, approved = 0] = all.slice(at, at + 4)
      addCounts(slots, route, { start: docStart + nth * ROUTE_SLOT_MS, messages, tried, approved })
    }
  }
  return slots
}
