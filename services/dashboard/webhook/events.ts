// GET /apps/{id}/events, POST /events/{id}/replay, POST /apps/{id}/events/replay {since, until}: what happened, newest first, how its
// endpoint took it, and sending it again.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import type { EventDoc } from '../../domain/webhooks/documents.ts'
import { eventState } from '../../domain/webhooks/events.ts'
import { type Resource, time, timeOrNull } from '../admin.ts'
import { PAGE } from '../paging.ts'
import { found, invalid, nothing, queryOf } from '../requests.ts'

const query = z.strictObject({
  ...PAGE,
  otp_id: z.string().optional(),
  /** The states that ask for somebody's attention; the others are what nearly all events are in. */
  status: z.enum(['failed', 'held']).optional(),
})

/** What an id can tell of its time. */
const LATEST = 2 ** 48 - 1
/** ISO 8601, as times are shown; the epoch milliseconds they are kept in will do. */
const error = 'must be a time, such as "2030-01-31T12:00:00Z"'
const moment = z.union(
  [
    z.iso.datetime({ offset: true }).transform(Date.parse),
    z.number().refine(at => Number.isInteger(at) && at >= 0 && at <= LATEST, error),
  ],
  { error },
)
const range = z.strictObject({ since: moment, until: moment.optional() })

const shown = (event: EventDoc) => {
  const { status, round, attempts, next_attempt_at } = eventState(event)
  const { _id, type, mode, payload, created_at } = event
  return {
    ...{ id: _id, type, mode, payload },
    created_at: time(created_at),
    ...{ status, round, next_attempt_at: timeOrNull(next_attempt_at) },
    attempts: attempts.map(({ at, ...attempt }) => ({ at: time(at), ...attempt })),
  }
}

export const events: Resource = (router, { store, clock, webhooks, page, body, audited }) => {
  const [docs, apps, endpoints] = [store.docs('events'), store.docs('apps'), store.docs('webhooks')]

  /** 409 without an endpoint that could be sent anything. */
  async function endpointOf(app_id: string): Promise<void> {
    if (!(await endpoints.get([app_id])).has(app_id)) throw httpException(409, 'The app has no webhook endpoint.')
  }

  router.get('/apps/:id/events', async ctx => {
    const { _id: app_id } = await found(apps, ctx.params.id, 'app')
    const { otp_id, status, ...asked } = queryOf(ctx, query)
    const filter = {
      app_id,
      ...(otp_id === undefined ? {} : { 'payload.otp_id': otp_id }),
      ...(status === undefined ? {} : { status }),
    }
    ctx.body = await page(ctx, { docs, filter, newestFirst: true, show: shown }, asked)
  })

  router.post('/events/:id/replay', async ctx => {
    await found(docs, ctx.params.id, 'event')
    await body(ctx, nothing)
    const event_id = await audited(ctx, async () => {
      const { _id, app_id, company_id } = await found(docs, ctx.params.id, 'event')
      await endpointOf(app_id)
      return {
        ...{ action: 'event.replay', target: _id, company_id, before: null, after: null },
        perform: async () => ((await webhooks.replay(_id)) ? _id : null),
      }
    })
    ctx.body = shown(await found(docs, event_id, 'event'))
  })

  router.post('/apps/:id/events/replay', async ctx => {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    const { since, until = clock.now() } = await body(ctx, range)
    if (since >= until) throw invalid([{ path: 'until', message: 'must be later than since' }])
    await endpointOf(app_id)
    const replayed = await audited(ctx, () => ({
      ...{ action: 'events.replay', target: app_id, company_id, before: null },
      after: { since: time(since), until: time(until) },
      perform: () => webhooks.replayRange(app_id, { since, until }),
    }))
    ctx.body = { replayed }
  })
}
