// GET /apps/{id}/events, GET /events/{id}, POST /events/{id}/replay, POST /apps/{id}/events/replay {since, until}: the webhook events of an
// app with their attempts, newest first, and sending them again.
import type { Router } from '@koa/router'
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import type { EventDoc } from '../../domain/webhooks/documents.ts'
import { eventId, parseEventId } from '../../domain/webhooks/event-ids.ts'
import type { AdminRouteRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { pageFields } from '../pages.ts'
import { emptyBody, getOr404, notFound, readQuery, validationProblem } from '../request-input.ts'
import type { WebhookControl } from './control.ts'
import { MAX_ID_TIME } from './event-replay.ts'
import type { EventAnswer } from './schemas.ts'

const query = z.strictObject({
  ...pageFields,
  otp_id: z.string().optional(),
  /** The two states that need an operator's attention. Only these have an index: nearly all events are in the other states. */
  status: z.enum(['failed', 'held']).optional(),
})

const TIME_MESSAGE = 'must be a time, such as "2030-01-31T12:00:00Z"'
/** ISO 8601, as times are shown, or epoch milliseconds, as they are stored. */
const timeSchema = z.union(
  [
    z.iso.datetime({ offset: true }).transform(Date.parse),
    z.number().refine(at => Number.isInteger(at) && at >= 0 && at <= MAX_ID_TIME, TIME_MESSAGE),
  ],
  { error: ({ input }) => (input === undefined ? 'is required' : TIME_MESSAGE) },
)
export const replayBody = z.strictObject({ since: timeSchema, until: timeSchema.optional() })

const eventView = (event: EventDoc): EventAnswer => {
  const { type, mode, payload, created_at, status, round, attempts, next_attempt_at = null } = event
  return {
    id: eventId(event),
    type,
    mode,
    payload,
    created_at: isoTime(created_at),
    status,
    round,
    next_attempt_at: isoTimeOrNull(next_attempt_at),
    attempts: attempts.map(({ at, ...attempt }) => ({ at: isoTime(at), ...attempt })),
  }
}

export function addEventRoutes(router: Router, admin: AdminDeps, control: WebhookControl): void {
  const { store, clock, readPage, readBody, withAudit } = admin
  const [docs, apps, endpoints] = [store.docs('events'), store.docs('apps'), store.docs('webhooks')]

  async function requireEndpoint(app_id: string): Promise<void> {
    if (!(await endpoints.get([app_id])).has(app_id)) throw httpException(409, 'The app has no webhook endpoint.')
  }

  router.get('/apps/:id/events', async ctx => {
    const { _id: app_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const { otp_id, status, ...pageOptions } = readQuery(ctx, query)
    const filter = {
      app_id,
      ...(otp_id === undefined ? {} : { 'payload.otp_id': otp_id }),
      ...(status === undefined ? {} : { status }),
    }
    ctx.body = await readPage(ctx, { docs, filter, newestFirst: true, show: eventView }, pageOptions)
  })

  async function findEvent(ctx: AdminRouteRequest): Promise<EventDoc> {
    const { _id, mode } = parseEventId(ctx.params.id ?? '')
    const event = await getOr404(ctx, docs, _id, 'event')
    if (event.mode !== mode) throw notFound('event')
    return event
  }

  router.get('/events/:id', async ctx => {
    ctx.body = eventView(await findEvent(ctx))
  })

  router.post('/events/:id/replay', async ctx => {
    await findEvent(ctx)
    await readBody(ctx, emptyBody)
    await withAudit(ctx, async () => {
      const event = await findEvent(ctx)
      const { _id, app_id, company_id } = event
      await requireEndpoint(app_id)
      return {
        action: 'event.replay',
        target: eventId(event),
        company_id,
        before: null,
        after: null,
        perform: async () => ((await control.replay(_id)) ? _id : null),
      }
    })
    ctx.body = eventView(await findEvent(ctx))
  })

  router.post('/apps/:id/events/replay', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const { since, until = clock.now() } = await readBody(ctx, replayBody)
    if (since >= until) throw validationProblem([{ path: 'until', message: 'must be later than since' }])
    await requireEndpoint(app_id)
    const replayed = await withAudit(ctx, () => ({
      action: 'events.replay',
      target: app_id,
      company_id,
      before: null,
      after: { since: isoTime(since), until: isoTime(until) },
      perform: () => control.replayRange(app_id, { since, until }),
    }))
    ctx.body = { replayed }
  })
}
