// Events for a receiver without a public address, such as a developer's machine: a program asks for them and hands them
// on. Nothing is stored about it. The caller gives the secret that signs and names the events it has, so there is
// nothing to remove when it ends, and the webhook actor does not know of it. docs/decisions/listening.md says why.
import { z } from 'zod'
import { firstIdAt } from '../../../infra/ids.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { webhookSecret } from '../../domain/tenancy/value-schemas.ts'
import { eventId, eventOfDoc } from '../../domain/webhooks/event-ids.ts'
import { minimalPayload } from '../../domain/webhooks/full-payload.ts'
import { eventBody, eventHeaders } from '../../domain/webhooks/signed-event.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { momentSchema } from './events.ts'
import { eventType } from './schemas.ts'

/** Documents of one answer. An event has one for each endpoint. */
const MAX_DOCS = 200
const MAX_KNOWN = 1_000
/** For as many ids as may be named. */
const MAX_FETCH_BYTES = 64 * 1024

const fetchBody = z
  .strictObject({
    secret: webhookSecret.meta({ description: 'Signs the events of this answer. It is not kept.' }),
    since: momentSchema,
    known: z
      .array(z.string())
      .max(MAX_KNOWN)
      .default([])
      .meta({ description: 'Ids of events that are left out, because the caller has them.' }),
  })
  .meta({ id: 'FetchEventsRequest', description: 'Which events, and the secret that signs them.' })

const signedEvent = z
  .object({
    id: z.string().meta({ description: 'As receivers know it.' }),
    type: eventType,
    created_at: timeSchema('When it happened.'),
    headers: z.record(z.string(), z.string()).meta({ description: 'As an endpoint would receive them.' }),
    body: z.string().meta({ description: 'The signed bytes. A receiver must get exactly these.' }),
  })
  .meta({ id: 'SignedEvent', description: 'An event, ready to be handed to a receiver.' })

const signedEvents = z
  .object({ events: z.array(signedEvent).meta({ description: 'Oldest first.' }) })
  .meta({ id: 'SignedEvents', description: 'Events that the caller did not have.' })

export const listenOperations = [
  operation({
    id: 'fetchEvents',
    request: 'POST /apps/{id}/events/fetch',
    role: 'developer',
    summary: 'Fetch events, signed',
    description:
      'For a receiver without a public address: `countersign listen` hands them on. Events as endpoints receive them, with the payload `minimal`, from `since` on and without those that are `known`. It changes nothing: endpoints are called as always. Ask again every second or two, with a `since` a minute before the newest: an event may be stored late.',
    body: {
      schema: fetchBody,
      example: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', since: '2030-01-01T12:00:00Z', known: [] },
      maxBytes: MAX_FETCH_BYTES,
    },
    answers: [
      ok(signedEvents, 'The events.', {
        events: [
          {
            id: 'evt_01hf7yat00w51rkfpywnvhmjvq',
            type: 'otp.approved',
            created_at: '2030-01-01T12:00:00.000Z',
            headers: { 'content-type': 'application/json', 'x-webhook-mode': 'live' },
            body: '{"id":"evt_01hf7yat00w51rkfpywnvhmjvq","type":"otp.approved","payload":{}}',
          },
        ],
      }),
    ],
    handle: async ({ app, body: { secret, since, known } }, { store, clock }) => {
      const filter = { app_id: app._id, _id: { $gte: firstIdAt('evt', since) } }
      const has = new Set(known)
      const now = clock.now()
      const events = store.docs('events')
      const found = new Map<string, z.output<typeof signedEvent>>()
      // What the caller has may fill a page: the next one is read then.
      for (let after = ''; found.size === 0; ) {
        const page = { sort: { _id: 1 }, limit: MAX_DOCS } as const
        const docs = await events.find(after === '' ? filter : { ...filter, _id: { $gt: after } }, page)
        for (const doc of docs) {
          const id = eventId(doc)
          if (has.has(id) || found.has(id)) continue
          // The documents of one event differ in their payload only.
          const event = { ...doc, _id: eventOfDoc(doc), payload: minimalPayload(doc.payload) }
          const bytes = eventBody(event)
          found.set(id, {
            id,
            type: doc.type,
            created_at: isoTime(doc.created_at),
            headers: eventHeaders(event, bytes, [secret], now),
            body: bytes.toString(),
          })
        }
        if (docs.length < MAX_DOCS) break
        after = docs.at(-1)?._id ?? ''
      }
      return { events: [...found.values()] }
    },
  }),
]
