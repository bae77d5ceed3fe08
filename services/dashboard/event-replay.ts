// Marks events as to be sent again, one or many. Somebody may be sending one at this moment: whoever comes second looks again.

import { newId } from '../../infra/ids.ts'
import type { Docs, Operators } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'

type Events = Pick<Docs<EventDoc>, 'get' | 'find' | 'change' | 'modify'>

const MAX_RACES = 20
const PAGE = 200
/** An id and the time of what happened come from the same clock, not from the same look at it. */
const CLOCK_SLACK_MS = 60_000
/** The latest an id can tell. */
const MAX_ID_TIME = 2 ** 48 - 1

/** Answers the event as it then is; null when it is not there. */
export async function replayEvent(
  events: Events,
  event_id: string,
  update: (found: EventDoc) => Operators<EventDoc>,
): Promise<EventDoc | null> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    const found = (await events.get([event_id])).get(event_id)
    if (!found) return null
    if (await changeUnlessRaced(events, found, update(found)))
      return (await events.get([event_id])).get(event_id) ?? null
  }
  throw new Error(`${event_id} keeps changing under our hands`)
}

/** Puts what happened in the range behind its endpoint's backlog. Answers how many. */
export async function replayRange(
  events: Events,
  app_id: string,
  { since, until }: { since: number; until: number },
  extraFields: (found: EventDoc) => Record<string, unknown>,
): Promise<number> {
  let count = 0
  let after = firstIdAt(since - CLOCK_SLACK_MS)
  const last = firstIdAt(until + CLOCK_SLACK_MS)
  for (;;) {
    const page = await events.find({ app_id, _id: { $gt: after, $lt: last } }, { sort: { _id: 1 }, limit: PAGE })
    const wanted = page.filter(({ created_at }) => created_at >= since && created_at < until)
    const marked = await Promise.all(
      wanted.map(({ _id }) =>
        replayEvent(events, _id, found => ({
          $set: { status: 'pending', backlog: 'kept', backlog_at: found.created_at, ...extraFields(found) },
          $unset: { claimed_at: true, next_attempt_at: true, due_at: true },
        })),
      ),
    )
    count += marked.filter(event => event !== null).length
    const end = page.at(-1)
    if (end === undefined || page.length < PAGE) return count
    after = end._id
  }
}

/** Conditional on what was read. An event from before events were delivered has no revision until now. */
async function changeUnlessRaced(events: Events, found: EventDoc, update: Operators<EventDoc>): Promise<boolean> {
  if (found.rev === undefined) {
    const first = { ...update, $set: { ...update.$set, rev: 1 } }
    return (await events.modify({ _id: found._id, rev: { $exists: false } }, first)) !== null
  }
  const [answer] = await events.change([{ _id: found._id, rev: found.rev, update }])
  return answer === 'won'
}

/** Where ids made at that time begin. */
const firstIdAt = (time: number): string =>
  newId('evt', Math.min(Math.max(0, Math.floor(time)), MAX_ID_TIME), size => new Uint8Array(size))
