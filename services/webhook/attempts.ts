// Attempts of events that are in the store. In: an event whose turn has come. Out: somebody has claimed its next attempt and is calling
// its endpoint, or it is put where it waits. Claiming is a conditional change, so that no attempt is made twice.

import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { Ladder } from '../domain/webhooks/ladder.ts'
import { type Call, isSuccess } from './call.ts'
import * as change from './changes.ts'
import { type Endpoint, type Endpoints, isCallable } from './endpoints.ts'
import type { Settle } from './settle.ts'
import type { Owner, Slots } from './slots.ts'
import { waitingRoom } from './waiting.ts'

/** Where a call that is about to be made may be: under way at once, in a slot to be released, or in line for one. */
export type Place = Slots | 'seat'

export interface Attempts {
  /** How many calls the endpoint may have now. */
  room(endpoint: Endpoint, owner: Owner): number
  /** Resolves when a slot of this endpoint's is free again. */
  released(endpoint: Endpoint): Promise<void>
  /** A place for one call, if there is one. */
  reserve(endpoint: Endpoint, owner: Owner): Place | null
  /** Gives back a place that was not used. */
  unreserve(owner: Owner, place: Place): void
  /** Calls the endpoint for an event that is ours, from the place that was reserved; frees it after. Returns at once. */
  begin(event: EventDoc, endpoint: Endpoint, place: Place): void
  /** Claims events of one app together and calls its endpoint for them in their order, for as many as there are slots. Answers for
   *  how many: the others are somebody else's by now, or have to wait. */
  attempt(waiting: readonly EventDoc[], endpoint: Endpoint): Promise<number>
  /** Nobody stays in line: their turn comes in another process. */
  stop(): void
  /** Resolves when no call is under way and what came of them is written. */
  settled(): Promise<void>
}

export interface AttemptParts {
  events: Pick<Docs<EventDoc>, 'change'>
  /** Endpoints that keep failing share slots of their own: however many they are, the others have theirs. */
  slots: { healthy: Slots; failing: Slots }
  call: Call
  settle: Settle
  ladder: Ladder
  endpoints: Pick<Endpoints, 'get'>
  /** Whether events of this app wait in the store: newer ones then line up behind them. */
  hasBacklog(app_id: string): boolean
  /** Events of one app that are claimed and in line, and will not be called for now. */
  park(events: EventDoc[]): Promise<void>
  clock: Clock
  log: Logger
}

/** Calls under way at one endpoint; of one that keeps failing, just enough to notice when it no longer does. */
const CALLS = 16
const CALLS_WHEN_FAILING = 2
const FAILING_FROM = 8

const keepsFailing = ({ life }: Pick<Endpoint, 'life'>): boolean => life.context.failures >= FAILING_FROM

export function attempting(parts: AttemptParts): Attempts {
  const { events, slots, call, settle, ladder, endpoints, hasBacklog, park, clock, log } = parts
  const underWay = new Set<Promise<void>>()
  const line = waitingRoom({ clock, showOut: tired => follow(shownOut(tired.map(({ event }) => event))) })

  function follow(work: Promise<void>): void {
    const followed = work.finally(() => underWay.delete(followed))
    underWay.add(followed)
  }

  const slotsFor = (endpoint: Endpoint): [Slots, number] =>
    keepsFailing(endpoint) ? [slots.failing, CALLS_WHEN_FAILING] : [slots.healthy, CALLS]

  function room(endpoint: Endpoint, owner: Owner): number {
    const [pool, calls] = slotsFor(endpoint)
    return isCallable(endpoint) ? pool.room(owner, calls) : 0
  }

  /** Answers what to release it from. */
  function takeSlot(endpoint: Endpoint, owner: Owner): Slots | null {
    const [pool, calls] = slotsFor(endpoint)
    return isCallable(endpoint) && pool.take(owner, calls) ? pool : null
  }

  function reserve(endpoint: Endpoint, owner: Owner): Place | null {
    const slot = takeSlot(endpoint, owner)
    if (slot) return slot
    const mayWait = !keepsFailing(endpoint) && isCallable(endpoint) && !hasBacklog(endpoint.app_id)
    return mayWait && line.keepSeat(endpoint.app_id) ? 'seat' : null
  }

  async function claim(waiting: readonly EventDoc[]): Promise<EventDoc[]> {
    const now = clock.now()
    const claims = waiting.map(event => ({
      ...{ _id: event._id, rev: event.rev },
      update: change.claimed(event, now, ladder),
    }))
    const answers = await events.change(claims)
    return waiting.flatMap((event, at) => (answers[at] === 'won' ? [change.afterClaim(event, now, ladder)] : []))
  }

  async function make(event: EventDoc, endpoint: Endpoint, slot: Slots): Promise<void> {
    try {
      const ending = await call(event, endpoint)
      // A failure may mean that nobody is to be called any more; a success keeps nobody waiting until it is written.
      const settled = settle(event, ending)
      if (isSuccess(ending)) follow(settled)
      else await settled
    } finally {
      slot.release(event)
      advance(event.app_id)
    }
  }

  /** A slot is free: whoever is next in line takes it. */
  function advance(app_id: string): void {
    const next = line.next(app_id)
    if (!next) return
    const slot = takeSlot(next.endpoint, next.event)
    follow(slot ? makeNow(next.event, slot) : shownOut([next.event]))
  }

  /** As its endpoint is now: it may have been paused since the event got in line. */
  async function makeNow(event: EventDoc, slot: Slots): Promise<void> {
    const endpoint = await endpoints.get(event.app_id).catch(() => null)
    if (endpoint && isCallable(endpoint)) return make(event, endpoint, slot)
    slot.release(event)
    advance(event.app_id)
    await shownOut([event])
  }

  async function shownOut(tired: EventDoc[]): Promise<void> {
    try {
      await park(tired)
    } catch (error) {
      // The claims stand. Once they are past their time the sweeper has the events looked at again.
      log.warn({ err: error, events: tired.length }, 'webhook.not_parked')
    }
  }

  return {
    ...{ reserve, room },
    released: endpoint => slotsFor(endpoint)[0].released(endpoint.app_id),
    unreserve: (owner, place) => (place === 'seat' ? line.giveBackSeat(owner.app_id) : place.release(owner)),
    begin(event, endpoint, place) {
      if (place !== 'seat') return follow(make(event, endpoint, place))
      line.sit({ event, endpoint })
      // One may have been freed since.
      if (room(endpoint, event) > 0) advance(event.app_id)
    },
    async attempt(waiting, endpoint) {
      const taken = waiting.map(event => takeSlot(endpoint, event)).filter(slot => slot !== null)
      let ours: EventDoc[] = []
      try {
        ours = await claim(waiting.slice(0, taken.length))
      } finally {
        for (const event of waiting.slice(ours.length, taken.length)) taken.pop()?.release(event)
      }
      for (const [at, event] of ours.entries()) follow(make(event, endpoint, taken[at] as Slots))
      return ours.length
    },
    stop: line.close,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
