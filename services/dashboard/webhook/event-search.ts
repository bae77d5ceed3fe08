// The filters of an app's list of events. In: a query. Out: which documents a page reads, and which of them it shows.
// An index serves the app, the time, one event, one verification, an endpoint other than the first, test mode, and the
// states that need an operator. The rest is tested on the documents: an index more would cost every event.
import { z } from 'zod'
import { firstIdAt } from '../../../infra/ids.ts'
import type { Docs, Filter } from '../../../infra/store/docs.ts'
import { keyMode } from '../../domain/openapi/shared-schemas.ts'
import type { EventDoc } from '../../domain/webhooks/documents.ts'
import { type EndpointRef, hasEndpoint } from '../../domain/webhooks/endpoint-ids.ts'
import { docsOfEvent, parseEventId } from '../../domain/webhooks/event-ids.ts'
import { type IdRange, readNewestFirst } from '../newest-first.ts'
import type { FilteredListing } from '../pages.ts'
import { timeQuery } from '../time-query.ts'
import { CLOCK_SLACK_MS } from './event-replay.ts'
import { eventStatus, eventType } from './schemas.ts'

export const eventSearchFields = {
  event_id: z.string().optional().meta({ description: 'Only this event, by the id that receivers know.' }),
  otp_id: z.string().optional().meta({ description: 'Only the events of this verification.' }),
  endpoint_id: z.string().optional().meta({ description: 'Only what is sent to this endpoint.' }),
  type: eventType.optional().meta({ description: 'Only events of this type.' }),
  status: eventStatus.optional().meta({ description: 'Only events in this state.' }),
  mode: keyMode.optional().meta({ description: 'Only events of this mode.' }),
  since: timeQuery('Only events that happened at this time or later.'),
  until: timeQuery('Only events that happened before this time.'),
}

export type EventSearch = z.output<z.ZodObject<typeof eventSearchFields>>

/** `endpoint`: that of `endpoint_id`. */
export function createEventSearch(
  docs: Pick<Docs<EventDoc>, 'find'>,
  app_id: string,
  search: EventSearch,
  endpoint: EndpointRef | undefined,
): Omit<FilteredListing<EventDoc, unknown>, 'show'> {
  const { event_id, otp_id, type, status, mode, since, until } = search
  const event = event_id === undefined ? undefined : parseEventId(event_id)
  const range = event ? { from: event._id, before: docsOfEvent(event._id)._id.$lt } : idRange(search)
  const filter: Filter<EventDoc> = {
    app_id,
    ...(otp_id === undefined ? {} : { 'payload.otp_id': otp_id }),
    ...(endpoint?.endpoint_id === undefined ? {} : { endpoint_id: endpoint.endpoint_id }),
    ...(status === 'failed' || status === 'held' ? { status } : {}),
    ...(mode === 'test' ? { mode } : {}),
  }
  return {
    newestFirst: (cursor, wanted) =>
      readNewestFirst({ docs, filters: [filter], range: { ...range, before: cursor ?? range.before }, wanted }),
    selective: [type, status, mode, endpoint].some(value => value !== undefined),
    matches: doc =>
      (event === undefined || doc.mode === event.mode) &&
      (endpoint === undefined || (doc.endpoint_id === endpoint.endpoint_id && hasEndpoint(doc))) &&
      (type === undefined || doc.type === type) &&
      (status === undefined || doc.status === status) &&
      (mode === undefined || doc.mode === mode) &&
      (since === undefined || doc.created_at >= since) &&
      (until === undefined || doc.created_at < until),
  }
}

const idRange = ({ since, until }: EventSearch): IdRange => ({
  from: since === undefined ? undefined : firstIdAt('evt', since - CLOCK_SLACK_MS),
  before: until === undefined ? undefined : firstIdAt('evt', until + CLOCK_SLACK_MS),
})
