// What is stored about learned routes. The OTP actor counts messages by slot here, and by hour beside the other statistics of the hour
// (`StatsDoc.routes`), so that both are counted again together. The sweeper makes facts from the counts, and the channel processes and the
// admin API read the facts.
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, idsUnder, type StoreOf } from '../../../infra/store/store.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import { MAX_CODE_LIFE_MS } from '../../../machines/otp.code-life.ts'
import { agedFacts } from '../../../machines/routes.estimate.ts'
import type { Outage, RouteFact } from '../../../machines/routes.ts'
import { encodeSlots, type Slots, type StoredSlots } from './slots.ts'

/** Ten minutes of an app's live messages. Nothing counts them again: what a process that died had not stored is missing here. */
export interface RouteSlotsDoc extends RevisedDoc {
  app_id: string
  /** When the ten minutes begin. */
  start: number
  slots: StoredSlots
  /** When counts were last added, by the clock of the process that did: the sweeper finds what is new by it. */
  changed_at: number
  purge_at: Date
}

/** Longer than any code lives, so that the last message of a slot is judged before its document goes. */
export const SLOTS_RETENTION_MS = MAX_CODE_LIFE_MS + HOUR_MS

export const slotsId = (app_id: string, start: number): string =>
  `${app_id}:${new Date(start).toISOString().slice(0, 16)}`

export const newSlotsDoc = (app_id: string, start: number, slots: Slots, changed_at: number): RouteSlotsDoc => ({
  _id: slotsId(app_id, start),
  app_id,
  start,
  slots: encodeSlots(slots, start),
  changed_at,
  purge_at: new Date(start + SLOTS_RETENTION_MS),
  rev: 1,
})

/** An app's facts: one document, so that a channel process learns all of an app with one read. */
export interface RouteFactsDoc extends RevisedDoc {
  /** When the facts were made. */
  at: number
  facts: RouteFact[]
  /** How many of the routes are silent; absent where none is. */
  silent?: number
  purge_at: Date
}

/** The facts of an app as they are now; none where it has no document. */
export const factsNow = (doc: RouteFactsDoc | undefined, now: number): RouteFact[] =>
  doc ? agedFacts(doc.facts, doc.at, now) : []

/** When the service did not work. There is one document. */
export interface RouteOutagesDoc extends RevisedDoc {
  /** When it was last seen to work. */
  working_until: number
  /** The outages in the time for which slots are kept. */
  outages: Outage[]
}

export const OUTAGES_ID = 'outages'

export const newOutagesDoc = (now: number): RouteOutagesDoc => ({
  _id: OUTAGES_ID,
  working_until: now,
  outages: [],
  rev: 1,
})

export const ROUTE_COLLECTIONS = {
  route_slots: collection<RouteSlotsDoc>({
    belongsTo: [{ to: 'apps', ofOwner: idsUnder }],
    indexes: [{ fields: { changed_at: 1 } }],
    purged: true,
  }),
  route_facts: collection<RouteFactsDoc>({
    belongsTo: [{ to: 'apps', ofOwner: _id => ({ _id }) }],
    indexes: [{ fields: { silent: 1 }, partial: { silent: { $gt: 0 } } }],
    purged: true,
  }),
  route_outages: collection<RouteOutagesDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
}

export type RouteStore = StoreOf<typeof ROUTE_COLLECTIONS>
