// GET|POST /companies, GET|PATCH /companies/{id}
import { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import { newId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import { openAccount } from '../domain/money/batches.ts'
import type { Company } from '../domain/tenancy/documents.ts'
import { shownName } from '../domain/tenancy/value-schemas.ts'
import { principalOf } from './access.ts'
import type { AddRoutes } from './admin-deps.ts'
import { changeClosing, closed } from './closing.ts'
import type { CompanyAnswer } from './companies.schemas.ts'
import { pageQuery } from './pages.ts'
import { getOr404, readQuery } from './request-input.ts'

export const createBody = z.strictObject({ name: shownName() })
export const patchBody = z.strictObject({ name: shownName().optional(), closed })

const companyView = ({ _id, name, balance, created_at, closed_at = null }: Company): CompanyAnswer => ({
  id: _id,
  name,
  balance,
  created_at: isoTime(created_at),
  closed_at: isoTimeOrNull(closed_at),
})

const auditFields = ({ name, closed_at = null }: Company) => ({ name, closed_at: isoTimeOrNull(closed_at) })

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

  router.patch('/companies/:id', async ctx => {
    await getOr404(ctx, docs, ctx.params.id, 'company')
    const { name, closed } = await readBody(ctx, patchBody)
    // A company that its operator closed must not be able to reopen itself.
    if (closed !== undefined && principalOf(ctx).role !== 'operator')
      throw httpException(403, 'Only an operator closes and reopens a company.')
    ctx.body = await withAudit(ctx, async () => {
      const stored = await getOr404(ctx, docs, ctx.params.id, 'company')
      const change = { name: name ?? stored.name, ...changeClosing(stored, closed, principalOf(ctx), clock.now()) }
      const company = { ...stored, ...change }
      if (stored.name === company.name && (stored.closed_at ?? null) === company.closed_at)
        return { unchanged: companyView(stored) }
      const { _id, rev } = stored
      return {
        action: 'company.change',
        target: _id,
        company_id: _id,
        before: auditFields(stored),
        after: auditFields(company),
        perform: async () =>
          (await docs.change([{ _id, rev, update: { $set: change } }]))[0] === 'won' ? companyView(company) : null,
      }
    })
  })
}
