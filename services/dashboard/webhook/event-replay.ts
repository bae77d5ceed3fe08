// Marks one event or many to be sent again. The webhook actor may be changing an event at the same time: the write is conditional on
// `rev`, and is repeated after a lost race.
import { firstIdAt } from '../../../infra/ids.ts'
import type { Docs, Operators } from '../../../infra/store/docs.ts'
import type { EventDoc } from '../../domain/webhooks/documents.ts'

type Events = Pick<Docs<EventDoc>, 'get' | 'find' | 'change'>

const MAX_TRIES_AFTER_LOST_RACE = 20
const PAGE_SIZE = 200
/** The time in an event's id may differ from its `created_at`, because the clock is read twice. */
const CLOCK_SLACK_MS = 60_000
/** Ids hold 48 bits of time. */
export const MAX_ID_TIME = 2 ** 48 - 1

/** Resolves with the event as it is afterwards; null when there is no such event. */
export async function replayEvent(
  events: Events,
  event_id: string,
  update: (found: EventDoc) => Operators<EventDoc>,
): Promise<EventDoc | null> {
  for (let race = 0; race < MAX_TRIES_AFTER_LOST_RACE; race += 1) {
    const found = (await events.get([event_id])).get(event_id)
    if (!found) return null
    const [answer] = await events.change([{ _id: event_id, rev: found.rev, update: update(found) }])
    if (answer === 'won') return (await events.get([event_id])).get(event_id) ?? null
  }
  throw new Error(`${event_id} was changed by another process ${MAX_TRIES_AFTER_LOST_RACE} times in a row`)
}

/** Puts the events of the range into their endpoint's backlog. Resolves with how many they are. */
export async function replayRange(
  events: Events,
  app_id: string,
  { since, until }: { since: number; until: number },
  extraFields: (found: EventDoc) => Record<string, unknown>,
): Promise<number> {
  let count = 0
  let after = firstIdAt('evt', since - CLOCK_SLACK_MS)
  const before = firstIdAt('evt', until + CLOCK_SLACK_MS)
  for (;;) {
    const page = await events.find({ app_id, _id: { $gt: after, $lt: before } }, { sort: { _id: 1 }, limit: PAGE_SIZE })
    const inRange = page.filter(({ created_at }) => created_at >= since && created_at < until)
    const replayed = await Promise.all(
      inRange.map(({ _id }) =>
        replayEvent(events, _id, found => ({
          $set: { status: 'pending', backlog: 'kept', backlog_at: found.created_at, ...extraFields(found) },
          $unset: { attempt_started_at: true, next_attempt_at: true, due_at: true },
        })),
      ),
    )
    count += replayed.filter(event => event !== null).length
    const lastOfPage = page.at(-1)
    if (lastOfPage === undefined || page.length < PAGE_SIZE) return count
    after = lastOfPage._id
  }
}
