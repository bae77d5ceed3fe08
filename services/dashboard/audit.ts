// GET /audit: every change, newest first; of one company when asked.
import { z } from 'zod'
import type { AuditDoc } from '../domain/audit.ts'
import { type Resource, time } from './admin.ts'
import { PAGE } from './paging.ts'
import { queryOf } from './requests.ts'

const query = z.strictObject({ ...PAGE, company_id: z.string().optional() })

const shown = ({ _id, at, who, company_id, action, target, before, after, outcome }: AuditDoc) => ({
  id: _id,
  at: time(at),
  ...{ who, company_id, action, target, before, after, outcome },
})

export const audit: Resource = (router, { store, page }) => {
  router.get('/audit', async ctx => {
    const { company_id, ...asked } = queryOf(ctx, query)
    const filter = company_id === undefined ? {} : { company_id }
    ctx.body = await page(ctx, { docs: store.docs('audit'), filter, newestFirst: true, show: shown }, asked)
  })
}
