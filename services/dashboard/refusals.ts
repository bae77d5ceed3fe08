// GET /refusals?app_id=&recipient=&type=&since=: sends and resends that were refused in the last days, newest first.
// GET /refusals/summary?app_id=&mode=&since=: how many of them there are of each type.
import { z } from 'zod'
import { firstIdAt } from '../../infra/ids.ts'
import { isoTime } from '../../infra/iso-time.ts'
import type { Filter } from '../../infra/store/docs.ts'
import { MODES } from '../../machines/otp.ts'
import { ERROR_TYPES } from '../domain/errors.ts'
import type { RefusalDoc, RefusalType } from '../domain/refusals/documents.ts'
import { lookupForm } from '../domain/verifications/valid-recipient.ts'
import { type AdminRequest, mayAccessCompany, principalOf } from './access.ts'
import type { AddRoutes } from './admin-deps.ts'
import { recipientFilters, visibleAppIds } from './many-apps.ts'
import { readNewestFirst } from './newest-first.ts'
import { pageFields } from './pages.ts'
import { recipientQuery } from './recipients.ts'
import { MAX_COUNTED_REFUSALS, summarizeRefusals } from './refusal-summary.ts'
import type { RefusalRecordAnswer } from './refusals.schemas.ts'
import { getOr404, readQuery } from './request-input.ts'
import { timeQuery } from './time-query.ts'

const TYPES: RefusalType[] = [...ERROR_TYPES, 'HTTPException']

const query = z.strictObject({
  ...pageFields,
  app_id: z.string().optional(),
  recipient: recipientQuery.optional(),
  type: z.enum(TYPES, 'must be a type of error, such as RateLimitExceededError').optional(),
  since: timeQuery.optional(),
})

const summaryQuery = z.strictObject({
  app_id: z.string().optional(),
  mode: z.enum(MODES, { error: 'must be live or test' }).optional(),
  since: timeQuery.optional(),
})

const refusalView = ({
  at,
  request_id,
  app_id,
  key_id,
  type,
  scope,
  country,
  masked,
}: RefusalDoc): RefusalRecordAnswer => ({
  at: isoTime(at),
  request_id,
  app_id,
  key_id,
  type,
  scope,
  country,
  masked_recipient: masked,
})

export const addRefusalRoutes: AddRoutes = (router, { store, keyring, readFilteredPage }) => {
  const docs = store.docs('refusals')

  /** 404 for an app that the caller may not see. */
  async function filtersOf(
    request: AdminRequest,
    { app_id, recipient }: { app_id?: string | undefined; recipient?: string | undefined },
  ): Promise<Filter<RefusalDoc>[]> {
    if (app_id !== undefined) await getOr404(request, store.docs('apps'), app_id, 'app')
    if (recipient !== undefined) {
      const appIds = app_id === undefined ? visibleAppIds(store, request) : [app_id]
      return recipientFilters({ docs, keyring, appIds, recipient: lookupForm(recipient) })
    }
    if (app_id !== undefined) return [{ app_id }]
    const { company_id } = principalOf(request)
    return [company_id === null ? {} : { company_id }]
  }

  router.get('/refusals', async ctx => {
    const { limit, cursor, ...search } = readQuery(ctx, query)
    const filters = await filtersOf(ctx, search)
    const from = search.since === undefined ? undefined : firstIdAt('rfs', search.since)
    const listing = {
      newestFirst: (before: string | undefined, wanted: number) =>
        readNewestFirst({ docs, filters, range: { from, before }, wanted }),
      matches: ({ company_id, type }: RefusalDoc) =>
        mayAccessCompany(ctx, company_id) && (search.type === undefined || search.type === type),
      selective: search.type !== undefined,
      show: refusalView,
    }
    ctx.body = await readFilteredPage(ctx, listing, { limit, cursor })
  })

  router.get('/refusals/summary', async ctx => {
    const { mode, since, ...search } = readQuery(ctx, summaryQuery)
    const filters = await filtersOf(ctx, search)
    const range = { from: since === undefined ? undefined : firstIdAt('rfs', since) }
    const newestFirst = readNewestFirst({ docs, filters, range, wanted: MAX_COUNTED_REFUSALS })
    const isMode = (doc: RefusalDoc) => mode === undefined || doc.mode === mode
    ctx.body = await summarizeRefusals(newestFirst, isMode)
  })
}
