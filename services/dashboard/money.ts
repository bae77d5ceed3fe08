// POST /companies/{id}/credit, GET /companies/{id}/ledger, GET /companies/{id}/reconciliation
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import type { Entered } from '../../infra/money/accounts.ts'
import type { Entry, LedgerDoc } from '../../infra/money/documents.ts'
import { reconcile } from '../../infra/money/reconcile.ts'
import { text } from '../../infra/tenancy/shapes.ts'
import { type Resource, time } from './admin.ts'
import { found, invalid } from './requests.ts'

/** Below zero takes back what was credited by mistake. */
const given = z.strictObject({
  micros: z.int().refine(micros => micros !== 0, 'must not be 0'),
  note: text().nullable().default(null),
})

const shown = ({ _id, at, kind, micros, balance_after, otp_id, delivery_id, note }: LedgerDoc) => ({
  ...{ id: _id, at: time(at), kind, micros, balance_after, otp_id, delivery_id, note },
})

export const money: Resource = (router, { store, clock, accounts, body, page, audited }) => {
  const companies = store.docs('companies')

  router.post('/companies/:id/credit', async ctx => {
    const { _id } = await found(companies, ctx.params.id, 'company')
    const { micros, note } = await body(ctx, given)
    // Whoever is not sure that it was done asks again under the same key.
    const key = ctx.get('idempotency-key') || newId('aud', clock.now())
    const entry: Entry = {
      entry: `credit:${_id}:${key}`,
      kind: 'credit',
      micros,
      otp_id: null,
      delivery_id: null,
      note,
    }
    const before = await accounts.balance(_id)
    ctx.body = await audited(ctx, () => ({
      ...{ action: 'company.credit', target: _id, company_id: _id },
      ...{ before: { balance: before }, after: { micros, note } },
      perform: async () => {
        refuse(await accounts.enter(_id, entry))
        return { id: _id, balance: await accounts.balance(_id) }
      },
    }))
  })

  router.get('/companies/:id/ledger', async ctx => {
    const { _id: company_id } = await found(companies, ctx.params.id, 'company')
    await accounts.flush(company_id)
    ctx.body = await page(ctx, { docs: store.docs('ledger'), filter: { company_id }, newestFirst: true, show: shown })
  })

  router.get('/companies/:id/reconciliation', async ctx => {
    const { _id } = await found(companies, ctx.params.id, 'company')
    ctx.body = await reconcile(store, _id)
  })
}

function refuse(entered: Entered): void {
  if (entered === 'short') throw invalid([{ path: 'micros', message: 'takes more than there is' }])
}
