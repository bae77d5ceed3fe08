// Attempts of events that are in the store. In: an event whose turn has come. Out: somebody has claimed its next attempt and is calling
// its endpoint, or it is put where it waits. Claiming is a conditional change, so that no attempt is made twice.

import type { Clock } from '../../infra/clock.ts'
import type { EventDoc } from '../../infra/otps/documents.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Ladder } from '../../infra/webhooks/ladder.ts'
import type { Call, Ending } from './call.ts'
import * as change from './changes.ts'
import { type Endpoint, isPaused } from './endpoints.ts'
import type { Settle } from './settle.ts'
import type { Slots } from './slots.ts'

export interface Attempts {
  room(endpoint: Endpoint): number
  /** Takes a slot for one call, if there is one. */
  reserve(endpoint: Endpoint): boolean
  /** Gives back a slot that was not used. */
  unreserve(app_id: string): void
  /** Calls the endpoint for an event that is ours, in a slot that was reserved; frees it after. Returns at once. */
  begin(event: EventDoc, endpoint: Endpoint): void
  /** Reserves, claims and begins. False when there is no slot, or the event is somebody else's by now. */
  attempt(event: EventDoc, endpoint: Endpoint): Promise<boolean>
  /** Resolves when no call is under way and what came of them is written. */
  settled(): Promise<void>
}

export interface AttemptParts {
  events: Pick<Docs<EventDoc>, 'change'>
  slots: Slots
  call: Call
  settle: Settle
  ladder: Ladder
  clock: Clock
}

/** Calls under way at one endpoint; of one that keeps failing, just enough to notice when it no longer does. */
const CALLS = 16
const CALLS_WHEN_FAILING = 2
const FAILING_FROM = 8

export const callsOf = ({ life }: Pick<Endpoint, 'life'>): number =>
  life.context.failures >= FAILING_FROM ? CALLS_WHEN_FAILING : CALLS

export function attempting({ events, slots, call, settle, ladder, clock }: AttemptParts): Attempts {
  const underWay = new Set<Promise<void>>()

  const reserve = (endpoint: Endpoint): boolean => !isPaused(endpoint) && slots.take(endpoint.app_id, callsOf(endpoint))

  async function claim(event: EventDoc): Promise<EventDoc | null> {
    const now = clock.now()
    const [answer] = await events.change([
      { _id: event._id, rev: event.rev, update: change.claimed(event, now, ladder) },
    ])
    return answer === 'won' ? change.afterClaim(event, now, ladder) : null
  }

  function begin(event: EventDoc, endpoint: Endpoint): void {
    const made = call(event, endpoint)
      .then((ending: Ending) => settle(event, ending))
      .finally(() => {
        slots.release(event.app_id)
        underWay.delete(made)
      })
    underWay.add(made)
  }

  return {
    ...{ reserve, begin, unreserve: slots.release },
    room: endpoint => (isPaused(endpoint) ? 0 : slots.room(endpoint.app_id, callsOf(endpoint))),
    async attempt(event, endpoint) {
      if (!reserve(endpoint)) return false
      let ours: EventDoc | null = null
      try {
        ours = await claim(event)
      } finally {
        if (!ours) slots.release(event.app_id)
      }
      if (ours) begin(ours, endpoint)
      return ours !== null
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
