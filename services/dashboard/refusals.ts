// Sends and resends that were refused in the last days: a list, newest first, and how many there are of each type.
import { z } from 'zod'
import { firstIdAt } from '../../infra/ids.ts'
import { isoTime } from '../../infra/iso-time.ts'
import type { Filter } from '../../infra/store/docs.ts'
import { ERROR_TYPES } from '../../machines/errors.ts'
import { keyMode } from '../domain/openapi/shared-schemas.ts'
import type { RefusalDoc, RefusalType } from '../domain/refusals/documents.ts'
import type { App } from '../domain/tenancy/documents.ts'
import { lookupForm } from '../domain/verifications/valid-recipient.ts'
import { type AdminRequest, mayAccessCompany, principalOf } from './access.ts'
import type { AdminDeps } from './admin-deps.ts'
import { ok, page, refusal } from './answers.ts'
import { recipientFilters, visibleAppIds } from './many-apps.ts'
import { readNewestFirst } from './newest-first.ts'
import { operation } from './operation.ts'
import { pageFields } from './pages.ts'
import { recipientQuery, recordLookup } from './recipients.ts'
import { MAX_COUNTED_REFUSALS, summarizeRefusals } from './refusal-summary.ts'
import { type RefusalRecordAnswer, refusalPage, refusalSummary } from './refusals.schemas.ts'
import { getOr404 } from './request-input.ts'
import { refuseEmptyRange, timeQuery } from './time-query.ts'

const TYPES: RefusalType[] = [...ERROR_TYPES, 'HTTPException']

const app_id = z.string().optional().meta({ description: 'Only those of this app.' })
const since = timeQuery('Only those of this time or later.')

const example: RefusalRecordAnswer = {
  at: '2030-01-01T12:00:00.000Z',
  request_id: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  key_id: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c',
  type: 'RateLimitExceededError',
  scope: 'recipient',
  country: 'GB',
  masked_recipient: '+44****56',
}

export const refusalView = (refusal: RefusalDoc): RefusalRecordAnswer => ({
  at: isoTime(refusal.at),
  request_id: refusal.request_id,
  app_id: refusal.app_id,
  key_id: refusal.key_id,
  type: refusal.type,
  scope: refusal.scope,
  country: refusal.country,
  masked_recipient: refusal.masked,
})

export const refusalOperations = [
  operation({
    id: 'listRefusals',
    request: 'GET /refusals',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: 'List refused sends',
    description:
      'Sends and resends that were refused, newest first. They are kept for 7 days; of a flood only some are recorded.',
    query: z
      .strictObject({
        ...pageFields,
        app_id,
        recipient: recipientQuery,
        type: z
          .enum(TYPES, 'must be a type of error, such as RateLimitExceededError')
          .optional()
          .meta({ description: 'Only refusals with this error type.', documentedAs: z.string() }),
        since,
        until: timeQuery('Only those before this time.'),
      })
      .check(refuseEmptyRange),
    answers: [page(refusalPage, 'A page of refusals.', example)],
    refusals: [refusal.notFound],
    handle: async ({ ctx, query: { limit, cursor, ...search } }, admin) => {
      const docs = admin.store.docs('refusals')
      const { recipient } = search
      const app = await askedApp(ctx, admin, search.app_id)
      await recordLookup(ctx, admin, { recipient, app, list: 'refusals', cursor })
      const filters = await filtersOf(ctx, admin, app, recipient)
      const [from, until] = [search.since, search.until].map(at =>
        at === undefined ? undefined : firstIdAt('rfs', at),
      )
      const listing = {
        newestFirst: (before = until, wanted: number) =>
          readNewestFirst({ docs, filters, range: { from, before }, wanted }),
        matches: ({ company_id, type }: RefusalDoc) =>
          mayAccessCompany(ctx, company_id) && (search.type === undefined || search.type === type),
        selective: search.type !== undefined,
        show: refusalView,
      }
      return admin.readFilteredPage(ctx, listing, { limit, cursor })
    },
  }),
  operation({
    id: 'summarizeRefusals',
    request: 'GET /refusals/summary',
    role: 'viewer',
    summary: 'Count refused sends by type',
    description: 'How many recorded refusals there are of each type. Of very many only the newest 5 000 are counted.',
    query: z.strictObject({
      app_id,
      mode: keyMode.optional().meta({ description: 'Only this mode; both without it.' }),
      since,
    }),
    answers: [
      ok(refusalSummary, 'The counts.', {
        types: [
          { type: 'RateLimitExceededError', count: 12 },
          { type: 'GeoBlockedError', count: 3 },
        ],
        counted: 15,
        complete: true,
        oldest_at: '2030-01-01T12:00:00.000Z',
      }),
    ],
    refusals: [refusal.notFound],
    handle: async ({ ctx, query: { mode, since, app_id } }, admin) => {
      const filters = await filtersOf(ctx, admin, await askedApp(ctx, admin, app_id))
      const range = { from: since === undefined ? undefined : firstIdAt('rfs', since) }
      const docs = admin.store.docs('refusals')
      const newestFirst = readNewestFirst({ docs, filters, range, wanted: MAX_COUNTED_REFUSALS })
      return summarizeRefusals(newestFirst, doc => mode === undefined || doc.mode === mode)
    },
  }),
]

/** Null where none is asked for. 404 for one that the caller may not see. */
const askedApp = async (request: AdminRequest, { store }: Pick<AdminDeps, 'store'>, id: string | undefined) =>
  id === undefined ? null : getOr404(request, store.docs('apps'), id, 'app')

async function filtersOf(
  request: AdminRequest,
  { store, keyring }: Pick<AdminDeps, 'store' | 'keyring'>,
  app: App | null,
  recipient?: string,
): Promise<Filter<RefusalDoc>[]> {
  if (recipient !== undefined) {
    const appIds = app === null ? visibleAppIds(store, request) : [app._id]
    const docs = store.docs('refusals')
    return recipientFilters({ docs, keyring, appIds, recipient: lookupForm(recipient) })
  }
  if (app !== null) return [{ app_id: app._id }]
  const { company_id } = principalOf(request)
  return [company_id === null ? {} : { company_id }]
}
