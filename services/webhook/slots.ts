// How many calls may be under way: so many per endpoint, so many per company, so many in this process. A slow endpoint fills its own
// slots and nobody else's, however many of them a company has; whoever finds none leaves its event in the store.
import type { EventDoc } from '../domain/webhooks/documents.ts'

/** Whose call it is. */
export type Owner = Pick<EventDoc, 'app_id' | 'company_id'>

export interface Slots {
  /** How many more calls this app's endpoint may have, of at most `cap`. */
  freeSlots(owner: Owner, cap: number): number
  /** Takes a slot, if there is one. */
  take(owner: Owner, cap: number): boolean
  release(owner: Owner): void
  /** Resolves when a call of this app ends, or one of anybody's when it has none itself. */
  whenSlotFree(app_id: string): Promise<void>
}

export interface SlotLimits {
  maxTotal: number
  maxPerCompany: number
}

export function createSlots({ maxTotal, maxPerCompany }: SlotLimits): Slots {
  const [byApp, byCompany] = [createTally(), createTally()]
  const waiters = new Map<string, (() => void)[]>()
  let total = 0

  const freeSlots = ({ app_id, company_id }: Owner, cap: number): number =>
    Math.max(0, Math.min(cap - byApp.of(app_id), maxPerCompany - byCompany.of(company_id), maxTotal - total))

  function count({ app_id, company_id }: Owner, delta: 1 | -1): void {
    byApp.add(app_id, delta)
    byCompany.add(company_id, delta)
    total += delta
  }

  function wake(app_id: string): void {
    const resolvers = waiters.get(app_id) ?? []
    waiters.delete(app_id)
    for (const resolve of resolvers) resolve()
  }

  return {
    freeSlots,
    take(owner, cap) {
      if (freeSlots(owner, cap) === 0) return false
      count(owner, 1)
      return true
    },
    release(owner) {
      count(owner, -1)
      wake(owner.app_id)
      for (const one of [...waiters.keys()]) if (byApp.of(one) === 0) wake(one)
    },
    whenSlotFree: app_id =>
      new Promise(resolve => {
        waiters.set(app_id, [...(waiters.get(app_id) ?? []), resolve])
      }),
  }
}

/** Counts by id; what is at nought is forgotten. */
function createTally() {
  const counts = new Map<string, number>()
  const of = (id: string): number => counts.get(id) ?? 0
  return {
    of,
    add(id: string, delta: 1 | -1): void {
      const now = of(id) + delta
      if (now === 0) counts.delete(id)
      else counts.set(id, now)
    },
  }
}
