// GET /audit?company_id=: the audit log, newest first. A user sees the records of the user's own company.
import { z } from 'zod'
import type { AuditDoc } from '../domain/audit.ts'
import { mayAccessCompany, principalOf } from './access.ts'
import type { AddRoutes } from './admin-deps.ts'
import { isoTime } from './iso-time.ts'
import { pageFields } from './pages.ts'
import { notFound, readQuery } from './request-input.ts'

const query = z.strictObject({ ...pageFields, company_id: z.string().optional() })

const auditRecordView = ({ _id, at, who, company_id, action, target, before, after, outcome }: AuditDoc) => ({
  id: _id,
  at: isoTime(at),
  who,
  company_id,
  action,
  target,
  before,
  after,
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
