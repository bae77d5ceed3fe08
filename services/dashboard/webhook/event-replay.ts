// Marks one event or many to be sent again. In: an event, the endpoints of its app, and one of them where only that is meant. Out: the
// event's documents of the endpoints it is sent to. The webhook actor may be changing one at the same time: the write is conditional on
// `rev`, and is repeated after a lost race.
import { firstIdAt } from '../../../infra/ids.ts'
import type { Docs, Operators } from '../../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { changeOne, getOne } from '../../../infra/store/one-doc.ts'
import { groupBy } from '../../../machines/group-by.ts'
import { type OtpById, otpOfEvent } from '../../domain/verifications/joined-ids.ts'
import { asksFor, type EventDoc, type WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { refOf } from '../../domain/webhooks/endpoint-ids.ts'
import { docsOfEvent, eventDocId, eventOfDoc } from '../../domain/webhooks/event-ids.ts'
import { fullFields, minimalPayload } from '../../domain/webhooks/full-payload.ts'
import { newEvent } from '../../domain/webhooks/new-event.ts'

export interface ReplayDeps extends OtpById {
  events: Pick<Docs<EventDoc>, 'get' | 'find' | 'insert' | 'change'>
}

/** More documents than an event has: one for each endpoint of its app, deleted ones included. */
const PAGE_SIZE = 200
/** The time in an event's id may differ from its `created_at`, because the clock is read twice. */
export const CLOCK_SLACK_MS = 60_000

export const findEventDocs = (events: Pick<Docs<EventDoc>, 'find'>, event_id: string): Promise<EventDoc[]> =>
  events.find(docsOfEvent(event_id), { sort: { _id: 1 }, limit: PAGE_SIZE })

/** Without a choice, an event is sent again to the endpoints it was for. If none of them is left, it is sent to those that ask for its
 *  type. */
export function endpointsToReplay(
  docs: readonly EventDoc[],
  endpoints: readonly WebhookEndpoint[],
  only?: WebhookEndpoint,
): WebhookEndpoint[] {
  if (only) return [only]
  const wasFor = (endpoint: WebhookEndpoint) =>
    docs.some(({ app_id, endpoint_id = app_id, status }) => endpoint_id === endpoint._id && status !== 'unsent')
  const remaining = endpoints.filter(wasFor)
  return remaining.length > 0 ? remaining : endpoints.filter(one => docs[0] && asksFor(one, docs[0].type))
}

/** Changes the event's document for this endpoint, or makes one. `docs`: all of the event, at least one. Resolves with the document as it
 *  is afterwards; null when the event was removed meanwhile. */
export async function replayTo(
  { events, ...otpsById }: ReplayDeps,
  docs: readonly EventDoc[],
  endpoint: WebhookEndpoint,
  update: (found: EventDoc) => Operators<EventDoc>,
): Promise<EventDoc | null> {
  const source = docs[0] as EventDoc
  const _id = eventDocId(eventOfDoc(source), refOf(endpoint))
  if (!docs.some(one => one._id === _id)) {
    const { with_metadata, ...event } = source
    const minimal = { ...event, _id: eventOfDoc(source), payload: minimalPayload(source.payload) }
    const fields =
      endpoint.payload === 'full' ? { ...minimal, ...fullFields(minimal, await otpOfEvent(otpsById, source)) } : minimal
    const copy = newEvent(fields, 'unsent', refOf(endpoint))
    await events.insert([source.discard_answers ? { ...copy, discard_answers: true } : copy])
  }
  const change = async (): Promise<EventDoc | null | typeof LOST> => {
    const found = await getOne(events, _id)
    if (!found) return null
    return (await changeOne(events, { _id, rev: found.rev, update: update(found) }))
      ? ((await getOne(events, _id)) ?? null)
      : LOST
  }
  return retryAfterLostRace(_id, change)
}

/** Puts the events of the range into the backlogs of their endpoints. Resolves with how many events they are, and the endpoints. */
export async function replayRange(
  deps: ReplayDeps,
  { app_id, since, until }: { app_id: string; since: number; until: number },
  chooseEndpoints: (docs: readonly EventDoc[]) => WebhookEndpoint[],
  extraFields: (found: EventDoc) => Record<string, unknown>,
): Promise<{ count: number; endpoints: ReadonlySet<WebhookEndpoint> }> {
  const replayed = new Set<WebhookEndpoint>()
  let count = 0
  const update = (found: EventDoc): Operators<EventDoc> => ({
    $set: { status: 'pending', backlog: 'recovery', backlog_at: found.created_at, ...extraFields(found) },
    $unset: { attempt_started_at: true, next_attempt_at: true, due_at: true },
  })
  const replayAll = async (docs: readonly EventDoc[]): Promise<void> => {
    const endpoints = chooseEndpoints(docs)
    const answers = await Promise.all(endpoints.map(endpoint => replayTo(deps, docs, endpoint, update)))
    for (const [at, endpoint] of endpoints.entries()) if (answers[at]) replayed.add(endpoint)
    if (answers.some(event => event !== null)) count += 1
  }
  let after = firstIdAt('evt', since - CLOCK_SLACK_MS)
  const before = firstIdAt('evt', until + CLOCK_SLACK_MS)
  for (;;) {
    const filter = { app_id, _id: { $gt: after, $lt: before } }
    const page = await deps.events.find(filter, { sort: { _id: 1 }, limit: PAGE_SIZE })
    const whole = page.length < PAGE_SIZE ? page : withoutLastEvent(page)
    const inRange = whole.filter(({ created_at }) => created_at >= since && created_at < until)
    await Promise.all([...groupBy(inRange, eventOfDoc).values()].map(replayAll))
    const last = whole.at(-1)
    if (last === undefined || page.length < PAGE_SIZE) return { count, endpoints: replayed }
    after = last._id
  }
}

/** The page may have cut the documents of its last event in two: they are read again with the next one. */
const withoutLastEvent = (page: readonly EventDoc[]): EventDoc[] => {
  const last = eventOfDoc(page.at(-1) as EventDoc)
  return page.filter(doc => eventOfDoc(doc) !== last)
}
