// Slots for calls: how many may be under way per endpoint, per company and in this process. In: an app and its company. Out: a slot, or
// none. A slow endpoint fills its own slots, and a company with many slow endpoints those of its own; an event that finds no slot waits in
// the store (backlogs.ts).
import type { EventDoc } from '../domain/webhooks/documents.ts'

/** The app and the company that a call is made for. */
export type Tenant = Pick<EventDoc, 'app_id' | 'company_id'>

export interface Slots {
  /** How many more calls this app's endpoint may have, of at most `maxPerApp`. */
  freeSlots(tenant: Tenant, maxPerApp: number): number
  /** Answers false when there is no free slot. */
  take(tenant: Tenant, maxPerApp: number): boolean
  release(tenant: Tenant): void
  /** Resolves when a call of this app ends; when it has none under way, as soon as a call of any app ends. */
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

  const freeSlots = ({ app_id, company_id }: Tenant, maxPerApp: number): number =>
    Math.max(0, Math.min(maxPerApp - byApp.of(app_id), maxPerCompany - byCompany.of(company_id), maxTotal - total))

  function count({ app_id, company_id }: Tenant, delta: 1 | -1): void {
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
    take(tenant, maxPerApp) {
      if (freeSlots(tenant, maxPerApp) === 0) return false
      count(tenant, 1)
      return true
    },
    release(tenant) {
      count(tenant, -1)
      wake(tenant.app_id)
      for (const one of [...waiters.keys()]) if (byApp.of(one) === 0) wake(one)
    },
    whenSlotFree: app_id =>
      new Promise(resolve => {
        waiters.set(app_id, [...(waiters.get(app_id) ?? []), resolve])
      }),
  }
}

/** Counts by id. An id whose count is 0 is deleted. */
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
