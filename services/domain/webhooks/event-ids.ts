// Ids of events. In: a stored event. Out: the id that receivers and operators know it by: `evt_…` in live mode, `evt_test_…` in test mode.
// The id is in the signed body, so that a receiver can tell a test event without trusting a header. The store keeps the id without
// `test_`: lists, cursors and ranges of time are in the order of stored ids, and a list holds the events of both modes.
//
// The id of a verification's event follows from what the verification stores of it. So the sweeper can tell which events it has caused, and
// publish one again whose message was lost: with the same id, so that the event is stored once.
import { firstIdAt } from '../../../infra/ids.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { EventDoc } from './documents.ts'

const PREFIX = 'evt_'
const TEST_PREFIX = 'evt_test_'

const RANDOM_CHARS = 16

/** `subject`: the id of the verification that was approved or has failed, or of the delivery that has ended. Either happens once, so the
 *  subject's random part makes the id unique. `at`: when it happened. */
export const eventIdFor = (subject: string, at: number): string =>
  firstIdAt('evt', at).slice(0, -RANDOM_CHARS) + subject.slice(-RANDOM_CHARS)

export const eventId = ({ _id, mode }: Pick<EventDoc, '_id' | 'mode'>): string =>
  mode === 'test' ? `${TEST_PREFIX}${_id.slice(PREFIX.length)}` : _id

/** An event is found only by its own id: the id of a test event without `test_` is no event's, and the reverse. */
export const parseEventId = (id: string): { _id: string; mode: Mode } =>
  id.startsWith(TEST_PREFIX)
    ? { _id: `${PREFIX}${id.slice(TEST_PREFIX.length)}`, mode: 'test' }
    : { _id: id, mode: 'live' }
