// Every event that happened, as it happened, kept for as long as its app keeps things. What is delivered, and replayed, is read
// from here. Said twice, it is kept once.

import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { EventDoc, NotifyBody } from '../../infra/otps/documents.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Tenancy } from '../../infra/tenancy/tenancy.ts'

export interface EventParts {
  events: Pick<Docs<EventDoc>, 'insert'>
  tenancy: Pick<Tenancy, 'app'>
  clock: Clock
}

export type RecordEvents = (happened: readonly NotifyBody[]) => Promise<void>

const DAY_MS = 86_400_000
/** Where the app is gone. */
const RETENTION_DAYS = 30
const APPS = { forMs: 5_000, most: 10_000 }

export function recording({ events, tenancy, clock }: EventParts): RecordEvents {
  const retention = cached(async app_id => (await tenancy.app(app_id))?.settings.retention_days ?? RETENTION_DAYS, {
    ...APPS,
    clock,
  })
  return async happened => {
    const docs = await Promise.all(
      happened.map(async ({ event_id, app_id, company_id, mode, type, payload, at }): Promise<EventDoc> => {
        const purge_at = new Date(at + (await retention.get(app_id)) * DAY_MS)
        return { _id: event_id, ...{ app_id, company_id, mode, type, payload, purge_at }, created_at: at, rev: 0 }
      }),
    )
    await events.insert(docs)
  }
}
