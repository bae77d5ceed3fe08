// GET|POST /companies, GET /companies/{id}
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import { opened } from '../domain/money/batches.ts'
import type { Company } from '../domain/tenancy/documents.ts'
import { text } from '../domain/tenancy/shapes.ts'
import { type Resource, time } from './admin.ts'
import { found } from './requests.ts'

const given = z.strictObject({ name: text() })

const shown = ({ _id, name, balance, created_at }: Company) => ({
  ...{ id: _id, name, balance },
  created_at: time(created_at),
})

export const companies: Resource = (router, { store, clock, body, page, audited }) => {
  const docs = store.docs('companies')

  router.get('/companies', async ctx => {
    ctx.body = await page(ctx, { docs, filter: {}, show: shown })
  })

  router.post('/companies', async ctx => {
    const { name } = await body(ctx, given)
    ctx.body = await audited(ctx, () => {
      const now = clock.now()
      const _id = newId('cmp', now)
      const company: Company = { _id, name, ...opened(_id, 0, now), created_at: now, rev: 0 }
      return {
        ...{ action: 'company.create', target: company._id, company_id: company._id },
        ...{ before: null, after: { name } },
        perform: async () => ((await docs.insert([company]))[0] === 'inserted' ? shown(company) : null),
      }
    })
    ctx.status = 201
  })

  router.get('/companies/:id', async ctx => {
    ctx.body = shown(await found(docs, ctx.params.id, 'company'))
  })
}
