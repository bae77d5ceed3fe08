// GET /audit?company_id=: the audit log, newest first. A user sees the records of the user's own company.
import { z } from 'zod'
import { isoTime } from '../../infra/iso-time.ts'
import type { AuditDoc } from '../domain/audit.ts'
import { mayAccessCompany, principalOf } from './access.ts'
import type { AddRoutes } from './admin-deps.ts'
import type { AuditRecordAnswer, AuditState } from './audit.schemas.ts'
import { pageFields } from './pages.ts'
import { notFound, readQuery } from './request-input.ts'

const query = z.strictObject({ ...pageFields, company_id: z.string().optional() })

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

export const addAuditRoutes: AddRoutes = (router, { store, readPage }) => {
  router.get('/audit', async ctx => {
    const { company_id = principalOf(ctx).company_id, ...pageOptions } = readQuery(ctx, query)
    if (company_id !== null && !mayAccessCompany(ctx, company_id)) throw notFound('company')
    const filter = company_id === null ? {} : { company_id }
    ctx.body = await readPage(
      ctx,
      { docs: store.docs('audit'), filter, newestFirst: true, show: auditRecordView },
      pageOptions,
    )
  })
}
