// The money of a company: credits, the ledger, and a check of all of it.
import { z } from 'zod'
import { createConcurrencyLimit } from '../../../infra/concurrency-limit.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { ApiParameter } from '../../../infra/openapi/operation.ts'
import { problem } from '../../domain/errors.ts'
import type { LedgerDoc } from '../../domain/money/documents.ts'
import { errorRefusal } from '../../domain/openapi/refusals.ts'
import { text } from '../../domain/tenancy/value-schemas.ts'
import { ok, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { pageQuery } from '../pages.ts'
import { validationProblem } from '../request-input.ts'
import { reconcile } from './reconcile.ts'
import { account, type LedgerEntryAnswer, ledgerPage, type ReconciliationAnswer, reconciliation } from './schemas.ts'

/** Each holds all entries of its company in memory. */
const MAX_RECONCILIATIONS_AT_ONCE = 2

const MAX_KEY_LENGTH = 255

const IDEMPOTENCY_KEY: ApiParameter = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'Names this credit: it is entered once per company and key, without a time limit. A repeated call with any body answers the current balance.',
  schema: z.string().max(MAX_KEY_LENGTH),
}

const entryExample: LedgerEntryAnswer = {
  id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c:000000000000001',
  at: '2030-01-01T12:00:00.000Z',
  kind: 'credit',
  micros: 5_000_000,
  balance_after: 5_000_000,
  otp_id: null,
  delivery_id: null,
  note: 'invoice 17',
}

const ledgerEntryView = ({ _id, ...entry }: LedgerDoc): LedgerEntryAnswer => ({
  id: _id,
  at: isoTime(entry.at),
  kind: entry.kind,
  micros: entry.micros,
  balance_after: entry.balance_after,
  otp_id: entry.otp_id,
  delivery_id: entry.delivery_id,
  note: entry.note,
})

export const moneyOperations = [
  operation({
    id: 'creditCompany',
    route: 'POST /companies/{id}/credit',
    role: 'operator',
    stepUp: true,
    summary: 'Credit a company',
    description: 'Adds to the balance, or takes back an earlier credit.',
    parameters: [IDEMPOTENCY_KEY],
    body: {
      schema: z
        .strictObject({
          micros: z.int().refine(micros => micros !== 0, 'must not be 0'),
          note: text().nullable().default(null),
        })
        .meta({
          id: 'CreditRequest',
          description: 'Micro-units to enter, not 0. A negative number takes back an earlier credit.',
        }),
      example: { micros: 5_000_000, note: 'invoice 17' },
    },
    answers: [ok(account, 'The balance afterwards.', { id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c', balance: 5_000_000 })],
    refusals: [
      errorRefusal(
        'InvalidIdempotencyKeyError',
        `The idempotency key is longer than ${MAX_KEY_LENGTH} characters, or not printable ASCII.`,
      ),
    ],
    handle: async ({ ctx, company: { _id }, body: { micros, note } }, { clock, accounts, withAudit }) => {
      const entry = `credit:${_id}:${readIdempotencyKey(ctx.get('idempotency-key')) ?? newId('aud', clock.now())}`
      return withAudit(ctx, async () => {
        const balance = await accounts.balance(_id)
        if (await accounts.knows(_id, entry)) return { unchanged: { id: _id, balance } }
        if ((micros < 0 && balance + micros < 0) || !Number.isSafeInteger(balance + micros)) throw amountProblem()
        return {
          action: 'company.credit',
          target: _id,
          company_id: _id,
          before: { balance },
          after: { micros, note },
          // Null when the balance has become too low, or the same entry was made, since the plan: another plan is then made.
          perform: async () =>
            (await accounts.enter(_id, { entry, kind: 'credit', micros, otp_id: null, delivery_id: null, note })) ===
            'entered'
              ? { id: _id, balance: await accounts.balance(_id) }
              : null,
        }
      })
    },
  }),
  operation({
    id: 'listLedger',
    route: 'GET /companies/{id}/ledger',
    role: 'viewer',
    summary: "List a company's ledger",
    description: 'Every change of its balance, newest first.',
    query: pageQuery,
    answers: [page(ledgerPage, 'A page of entries.', entryExample)],
    csv: 'ledger',
    handle: async ({ ctx, company: { _id: company_id }, query }, { store, accounts, readPage }) => {
      await accounts.flush(company_id)
      const docs = store.docs('ledger')
      return readPage(ctx, { docs, filter: { company_id }, newestFirst: true, show: ledgerEntryView }, query)
    },
  }),
  operation({
    id: 'reconcileCompany',
    route: 'GET /companies/{id}/reconciliation',
    // It reads every entry and every delivery of the company.
    role: 'owner',
    summary: "Check a company's money",
    description: 'Reads all entries and messages of the company and lists contradictions.',
    answers: [
      ok(reconciliation, 'What was found.', {
        balance: 4_960_000,
        entries: 2,
        sum: 4_960_000,
        deliveries: 1,
        problems: [],
      }),
    ],
    /** Callers who ask for the same company at the same time share one answer: users may ask as often as they like. */
    keep: ({ store }) => {
      const takeTurn = createConcurrencyLimit(MAX_RECONCILIATIONS_AT_ONCE)
      const reconciling = new Map<string, Promise<ReconciliationAnswer>>()
      return (company_id: string): Promise<ReconciliationAnswer> => {
        const answer =
          reconciling.get(company_id) ??
          takeTurn(() => reconcile(store, company_id)).finally(() => reconciling.delete(company_id))
        reconciling.set(company_id, answer)
        return answer
      }
    },
    handle: ({ company }, _, reconcileOnce) => reconcileOnce(company._id),
  }),
]

const amountProblem = () =>
  validationProblem([{ path: 'micros', message: 'would make the balance negative or too large' }])

/** With a key, an operator can repeat a credit whose answer was lost. */
function readIdempotencyKey(header: string): string | null {
  if (header.length > MAX_KEY_LENGTH || !/^[\x20-\x7e]*$/.test(header))
    throw problem('InvalidIdempotencyKeyError', {
      detail: `It must be at most ${MAX_KEY_LENGTH} printable ASCII characters.`,
    })
  return header || null
}
