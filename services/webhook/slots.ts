// Slots for calls: how many may be under way per endpoint, per company and in this process. In: an endpoint and its
// company. Out: a slot, or none. A slow endpoint fills its own slots, and a company with many slow endpoints those of
// its own; an event that finds no slot waits in the store (backlogs.ts).
import { createCounts } from '../../infra/counts.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { storedEndpointId } from '../domain/webhooks/endpoint-ids.ts'

/** The endpoint and the company that a call is made for. */
export type Tenant = Pick<EventDoc, 'app_id' | 'endpoint_id' | 'company_id'>

export interface Slots {
  /** How many more calls this endpoint may have, of at most `maxPerEndpoint`. */
  freeSlots(tenant: Tenant, maxPerEndpoint: number): number
  /** Answers false when there is no free slot. */
  take(tenant: Tenant, maxPerEndpoint: number): boolean
  release(tenant: Tenant): void
  /** Resolves when a call of this endpoint ends; when it has none under way, as soon as a call of any endpoint ends. */
  whenSlotFree(endpoint_id: string): Promise<void>
}

export interface SlotLimits {
  maxTotal: number
  maxPerCompany: number
}

export function createSlots({ maxTotal, maxPerCompany }: SlotLimits): Slots {
  const [byEndpoint, byCompany] = [createCounts(), createCounts()]
  const waiters = new Map<string, (() => void)[]>()
  let total = 0

  function freeSlots(tenant: Tenant, maxPerEndpoint: number): number {
    const ofEndpoint = maxPerEndpoint - byEndpoint.of(storedEndpointId(tenant))
    return Math.max(0, Math.min(ofEndpoint, maxPerCompany - byCompany.of(tenant.company_id), maxTotal - total))
  }

  function count(tenant: Tenant, delta: 1 | -1): void {
    byEndpoint.add(storedEndpointId(tenant), delta)
    byCompany.add(tenant.company_id, delta)
    total += delta
  }

  function wake(endpoint_id: string): void {
    const resolvers = waiters.get(endpoint_id) ?? []
    waiters.delete(endpoint_id)
    for (const resolve of resolvers) resolve()
  }

  return {
    freeSlots,
    take(tenant, maxPerEndpoint) {
      if (freeSlots(tenant, maxPerEndpoint) === 0) return false
      count(tenant, 1)
      return true
    },
    release(tenant) {
      count(tenant, -1)
      wake(storedEndpointId(tenant))
      for (const one of [...waiters.keys()]) if (byEndpoint.of(one) === 0) wake(one)
    },
    whenSlotFree: endpoint_id =>
      new Promise(resolve => {
        waiters.set(endpoint_id, [...(waiters.get(endpoint_id) ?? []), resolve])
      }),
  }
}
