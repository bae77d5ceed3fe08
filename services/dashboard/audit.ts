// GET /audit?company_id=: the audit log, newest first.
import { z } from 'zod'
import type { AuditDoc } from '../domain/audit.ts'
import type { AddRoutes } from './admin-deps.ts'
import { isoTime } from './iso-time.ts'
import { pageFields } from './pages.ts'
import { readQuery } from './request-input.ts'

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
    const { company_id, ...pageOptions } = readQuery(ctx, query)
    const filter = company_id === undefined ? {} : { company_id }
    ctx.body = await readPage(
      ctx,
      { docs: store.docs('audit'), filter, newestFirst: true, show: auditRecordView },
      pageOptions,
    )
  })
}
