// Ids of events. In: a stored event. Out: the id that receivers and operators know it by: `evt_…` in live mode, `evt_test_…` in test mode.
// An event is stored once per endpoint: for the first endpoint of its app under its own id, for a later one under that id, a colon and the
// endpoint's. So an event that is stored again, because its message came twice, finds its documents, also
// if endpoints were added or deleted meanwhile.
//
// The id is in the signed body, so that a receiver can tell a test event without trusting a header. The store keeps the id without
// `test_`: lists, cursors and ranges of time are in the order of stored ids, and a list holds the events of both modes.
//
// The id of a verification's event follows from what the verification stores of it. So the sweeper can tell which events it has caused, and
// publish one again whose message was lost: with the same id, so that the event is stored once.
import { firstIdAt } from '../../../infra/ids.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { EventDoc } from './documents.ts'
import type { EndpointRef } from './endpoint-ids.ts'

const PREFIX = 'evt_'
const TEST_PREFIX = 'evt_test_'

const RANDOM_CHARS = 16

/** `subject`: the id of the verification that was approved or has failed, or of the delivery that has ended. Either happens once, so the
 *  subject's random part makes the id unique. `at`: when it happened. */
export const eventIdFor = (subject: string, at: number): string =>
  firstIdAt('evt', at).slice(0, -RANDOM_CHARS) + subject.slice(-RANDOM_CHARS)

/** The ids of events that tell several subjects the same. */
export const eventIdsFor = (subjects: readonly string[], at: number): Record<string, string> =>
  Object.fromEntries(subjects.map(subject => [subject, eventIdFor(subject, at)]))

/** `event_id`: as the store has it, without `test_`. */
export const eventDocId = (event_id: string, { endpoint_id }: EndpointRef): string =>
  endpoint_id === undefined ? event_id : `${event_id}:${endpoint_id}`

/** The event that a document belongs to, without `test_`. */
export const eventOfDoc = ({ _id }: Pick<EventDoc, '_id'>): string => _id.split(':', 1)[0] as string

/** The ids of all documents of an event: its own, and those that begin with it and a colon, which a semicolon follows. */
export const docsOfEvent = (event_id: string) => ({ _id: { $gte: event_id, $lt: `${event_id};` } })

export const eventId = (event: Pick<EventDoc, '_id' | 'mode'>): string => {
  const id = eventOfDoc(event)
  return event.mode === 'test' ? `${TEST_PREFIX}${id.slice(PREFIX.length)}` : id
}

/** An event is found only by its own id: the id of a test event without `test_` is no event's, and the reverse. */
export const parseEventId = (id: string): { _id: string; mode: Mode } =>
  id.startsWith(TEST_PREFIX)
    ? { _id: `${PREFIX}${id.slice(TEST_PREFIX.length)}`, mode: 'test' }
    : { _id: id, mode: 'live' }
