// The audit log. A user sees the records of the user's own company, and those of changes that hold for all companies.
import { z } from 'zod'
import { firstIdAt } from '../../infra/ids.ts'
import { isoTime } from '../../infra/iso-time.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { type AuditDoc, EVERY_COMPANY } from '../domain/audit.ts'
import { enumOf, jsonObject, timeSchema } from '../domain/openapi/shared-schemas.ts'
import { mayAccessCompany, principalOf } from './access.ts'
import { page } from './answers.ts'
import { readNewestFirst } from './newest-first.ts'
import { operation } from './operation.ts'
import { pageOf } from './page-schema.ts'
import { pageFields } from './pages.ts'
import { notFound } from './request-input.ts'
import { refuseEmptyRange, timeQuery } from './time-query.ts'

const outcome = enumOf<AuditDoc['outcome']>({ begun: true, done: true, undone: true }).meta({
  id: 'AuditOutcome',
  description: '`begun`: it was interrupted, and may have happened.',
})

const state = z.union([jsonObject, z.array(jsonObject)]).nullable()

const auditRecord = z
  .object({
    id: z.string().meta({ description: 'Identifies the record.' }),
    at: timeSchema('When it began.'),
    who: z.string().meta({ description: 'The operator or user.' }),
    company_id: z
      .string()
      .nullable()
      .meta({ description: 'The company it was about; `*` for a change that holds for all, as of prices.' }),
    action: z.string().meta({ description: 'What was done, such as `key.create`.' }),
    target: z.string().meta({ description: 'What it was done to.' }),
    before: state.meta({ description: 'The state before. Secrets are fingerprints.' }),
    after: state.meta({ description: 'The state after. Secrets are fingerprints.' }),
    outcome,
  })
  .meta({ id: 'AuditRecord', description: 'A change through the admin API.' })

type AuditState = z.output<typeof state>
type AuditRecordAnswer = z.output<typeof auditRecord>

const example: AuditRecordAnswer = {
  id: 'aud_01k2m8x4e9s7v3hqz5tnw6yb0c',
  at: '2030-01-01T12:00:00.000Z',
  who: 'ann',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  action: 'company.create',
  target: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  before: null,
  after: { name: 'Acme' },
  outcome: 'done',
}

/** withAudit stores the members that a change says, so `before` and `after` are objects or lists of them. */
const auditRecordView = ({
  _id,
  at,
  who,
  company_id,
  action,
  target,
  before,
  after,
  outcome,
}: AuditDoc): AuditRecordAnswer => ({
  id: _id,
  at: isoTime(at),
  who,
  company_id,
  action,
  target,
  before: before as AuditState,
  after: after as AuditState,
  outcome,
})

export const auditOperations = [
  operation({
    id: 'listAuditRecords',
    request: 'GET /audit',
    role: 'viewer',
    summary: 'Read the audit log',
    description: 'Every change through this API, newest first.',
    query: z
      .strictObject({
        ...pageFields,
        company_id: z.string().optional().meta({
          description: 'Only changes of this company and those that hold for all companies; `*`: only the latter.',
        }),
        who: z.string().optional().meta({ description: 'Only changes by this operator, by name, or user, by id.' }),
        action: z.string().optional().meta({ description: 'Only changes of this kind, such as `key.create`.' }),
        since: timeQuery('Only changes that began at this time or later.'),
        until: timeQuery('Only changes that began before this time.'),
      })
      .check(refuseEmptyRange),
    answers: [page(pageOf('AuditPage', auditRecord), 'A page of records.', example)],
    csv: 'audit',
    handle: async ({ ctx, query }, { store, readFilteredPage }) => {
      const { company_id = principalOf(ctx).company_id, who, action, since, until, ...pageOptions } = query
      const isOfOne = company_id !== null && company_id !== EVERY_COMPANY
      if (isOfOne && !mayAccessCompany(ctx, company_id)) throw notFound('company')
      const filters =
        company_id === null ? [{}] : [...new Set([company_id, EVERY_COMPANY])].map(id => ({ company_id: id }))
      const docs = store.docs('audit')
      // An id is made before its record, whose time may be later after lost races.
      const from = since === undefined ? undefined : firstIdAt('aud', since - MINUTE_MS)
      const end = until === undefined ? undefined : firstIdAt('aud', until)
      return readFilteredPage(
        ctx,
        {
          newestFirst: (before = end, wanted) => readNewestFirst({ docs, filters, range: { from, before }, wanted }),
          selective: who !== undefined || action !== undefined,
          matches: record =>
            // A user is recorded with the masked address after the id.
            (who === undefined || record.who === who || record.who.startsWith(`${who} (`)) &&
            (action === undefined || record.action === action) &&
            (since === undefined || record.at >= since) &&
            (until === undefined || record.at < until),
          show: auditRecordView,
        },
        pageOptions,
      )
    },
  }),
]
