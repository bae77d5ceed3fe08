// POST /companies/{id}/credit, GET /companies/{id}/ledger, GET /companies/{id}/reconciliation
import { z } from 'zod'
import { createConcurrencyLimit } from '../../../infra/concurrency-limit.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { problem } from '../../domain/errors.ts'
import type { LedgerDoc } from '../../domain/money/documents.ts'
import { text } from '../../domain/tenancy/value-schemas.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { getOr404, validationProblem } from '../request-input.ts'
import { reconcile } from './reconcile.ts'
import type { AccountAnswer, LedgerEntryAnswer, ReconciliationAnswer } from './schemas.ts'

/** Negative `micros` take back a credit. */
export const creditBody = z.strictObject({
  micros: z.int().refine(micros => micros !== 0, 'must not be 0'),
  note: text().nullable().default(null),
})

/** Each holds all entries of its company in memory. */
const MAX_RECONCILIATIONS_AT_ONCE = 2

const ledgerEntryView = ({
  _id,
  at,
  kind,
  micros,
  balance_after,
  otp_id,
  delivery_id,
  note,
}: LedgerDoc): LedgerEntryAnswer => ({
  id: _id,
  at: isoTime(at),
  kind,
  micros,
  balance_after,
  otp_id,
  delivery_id,
  note,
})

export const addMoneyRoutes: AddRoutes = (router, { store, clock, accounts, readBody, readPage, withAudit }) => {
  const companies = store.docs('companies')
  const takeTurn = createConcurrencyLimit(MAX_RECONCILIATIONS_AT_ONCE)
  const reconciling = new Map<string, Promise<ReconciliationAnswer>>()

  /** Callers who ask for the same company at the same time share one answer: users may ask as often as they like. */
  function reconcileOnce(company_id: string): Promise<ReconciliationAnswer> {
    const answer =
      reconciling.get(company_id) ??
      takeTurn(() => reconcile(store, company_id)).finally(() => reconciling.delete(company_id))
    reconciling.set(company_id, answer)
    return answer
  }

  router.post('/companies/:id/credit', async ctx => {
    const { _id } = await getOr404(ctx, companies, ctx.params.id, 'company')
    const { micros, note } = await readBody(ctx, creditBody)
    const entryId = `credit:${_id}:${readIdempotencyKey(ctx.get('idempotency-key')) ?? newId('aud', clock.now())}`
    ctx.body = await withAudit(ctx, async () => {
      const balance = await accounts.balance(_id)
      const account: AccountAnswer = { id: _id, balance }
      if (await accounts.knows(_id, entryId)) return { unchanged: account }
      if ((micros < 0 && balance + micros < 0) || !Number.isSafeInteger(balance + micros)) throw amountProblem()
      return {
        action: 'company.credit',
        target: _id,
        company_id: _id,
        before: { balance },
        after: { micros, note },
        // Null when the balance has become too low, or the same entry was made, since the plan: another plan is then made.
        perform: async () =>
          (await accounts.enter(_id, {
            entry: entryId,
            kind: 'credit',
            micros,
            otp_id: null,
            delivery_id: null,
            note,
          })) === 'entered'
            ? { id: _id, balance: await accounts.balance(_id) }
            : null,
      }
    })
  })

  router.get('/companies/:id/ledger', async ctx => {
    const { _id: company_id } = await getOr404(ctx, companies, ctx.params.id, 'company')
    await accounts.flush(company_id)
    ctx.body = await readPage(ctx, {
      docs: store.docs('ledger'),
      filter: { company_id },
      newestFirst: true,
      show: ledgerEntryView,
    })
  })

  router.get('/companies/:id/reconciliation', async ctx => {
    const { _id } = await getOr404(ctx, companies, ctx.params.id, 'company')
    ctx.body = await reconcileOnce(_id)
  })
}

const amountProblem = () =>
  validationProblem([{ path: 'micros', message: 'takes more than there is, or gives more than can be counted' }])

/** With a key, an operator can repeat a credit whose answer was lost. */
function readIdempotencyKey(header: string): string | null {
  if (!/^[\x20-\x7e]{0,255}$/.test(header))
    throw problem('InvalidIdempotencyKeyError', { detail: 'It must be at most 255 printable ASCII characters.' })
  return header || null
}
