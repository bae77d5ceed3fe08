// GET|POST /companies, GET /companies/{id}
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import { openAccount } from '../domain/money/batches.ts'
import type { Company } from '../domain/tenancy/documents.ts'
import { text } from '../domain/tenancy/value-schemas.ts'
import { principalOf } from './access.ts'
import type { AddRoutes } from './admin-deps.ts'
import { isoTime } from './iso-time.ts'
import { pageQuery } from './pages.ts'
import { getOr404, readQuery } from './request-input.ts'

const createBody = z.strictObject({ name: text() })

const companyView = ({ _id, name, balance, created_at }: Company) => ({
  id: _id,
  name,
  balance,
  created_at: isoTime(created_at),
})

export const addCompanyRoutes: AddRoutes = (router, { store, clock, readBody, readPage, withAudit }) => {
  const docs = store.docs('companies')

  router.get('/companies', async ctx => {
    const { company_id } = principalOf(ctx)
    if (company_id === null) ctx.body = await readPage(ctx, { docs, filter: {}, show: companyView })
    else {
      readQuery(ctx, pageQuery)
      ctx.body = { items: [companyView(await getOr404(ctx, docs, company_id, 'company'))], next_cursor: null }
    }
  })

  router.post('/companies', async ctx => {
    const { name } = await readBody(ctx, createBody)
    ctx.body = await withAudit(ctx, () => {
      const now = clock.now()
      const _id = newId('cmp', now)
      const company: Company = { _id, name, ...openAccount(_id, 0, now), created_at: now, rev: 0 }
      return {
        action: 'company.create',
        target: company._id,
        company_id: company._id,
        before: null,
        after: { name },
        perform: async () => ((await docs.insert([company]))[0] === 'inserted' ? companyView(company) : null),
      }
    })
    ctx.status = 201
  })

  router.get('/companies/:id', async ctx => {
    ctx.body = companyView(await getOr404(ctx, docs, ctx.params.id, 'company'))
  })
}
