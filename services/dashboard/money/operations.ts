// The money of a company: credits, the ledger, and a check of all of it.
import { z } from 'zod'
import { createConcurrencyLimit } from '../../../infra/concurrency-limit.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { ApiParameter } from '../../../infra/openapi/operation.ts'
import { problem } from '../../domain/errors.ts'
import { creditEntry } from '../../domain/money/documents.ts'
import { DEFAULT_TIMEZONE, MONTH, monthOf } from '../../domain/money/month.ts'
import { errorRefusal } from '../../domain/openapi/refusals.ts'
import { channel, country, shownName } from '../../domain/tenancy/value-schemas.ts'
import { principalOf } from '../access.ts'
import { ok, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { pageFields } from '../pages.ts'
import { validationProblem } from '../request-input.ts'
import { timeQuery } from '../time-query.ts'
import { EXCEPTION_KINDS, type ExplainedEntry } from './exceptions.ts'
import { matchesFilter, readLedger } from './ledger.ts'
import { reconcile } from './reconcile.ts'
import {
  account,
  entryKind,
  type LedgerEntryAnswer,
  ledgerPage,
  type ReconciliationAnswer,
  reconciliation,
  type StatementAnswer,
  statement,
} from './schemas.ts'
import { readStatement } from './statement.ts'

/** Each holds all entries of its company in memory. */
const MAX_RECONCILIATIONS_AT_ONCE = 2
const MAX_STATEMENTS_AT_ONCE = 2

const MAX_KEY_LENGTH = 255

const IDEMPOTENCY_KEY: ApiParameter = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'Names this credit: it is entered once per company and key, without a time limit. A repeated call answers the current balance; one of another amount is refused.',
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
  by: 'ada',
  app_id: null,
  channel: null,
  country: null,
  provider: null,
  exceptions: [],
}

const ledgerEntryView = ({ _id, ...entry }: ExplainedEntry): LedgerEntryAnswer => ({
  id: _id,
  at: isoTime(entry.at),
  kind: entry.kind,
  micros: entry.micros,
  balance_after: entry.balance_after,
  otp_id: entry.otp_id,
  delivery_id: entry.delivery_id,
  note: entry.note,
  by: entry.by,
  app_id: entry.message?.app_id ?? null,
  channel: entry.message?.channel ?? null,
  country: entry.message?.country ?? null,
  provider: entry.provider ?? null,
  exceptions: [...entry.exceptions],
})

const statementExample: StatementAnswer = {
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  month: '2030-01',
  timezone: 'Europe/Berlin',
  from: '2029-12-31T23:00:00.000Z',
  until: '2030-01-31T23:00:00.000Z',
  settled_until: '2030-01-31T22:59:12.000Z',
  opening_micros: 1_000_000,
  credits_micros: 5_000_000,
  charges_micros: -120_000,
  refunds_micros: 40_000,
  recharges_micros: 0,
  closing_micros: 5_920_000,
  rows: [
    {
      month: '2030-01',
      timezone: 'Europe/Berlin',
      app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
      app_name: 'Shop',
      channel: 'sms',
      country: 'GB',
      provider: 'main-sms',
      unit_micros: 40_000,
      charged: 3,
      charged_micros: -120_000,
      refunded: 1,
      refunded_micros: 40_000,
      recharged: 0,
      recharged_micros: 0,
    },
  ],
  exceptions: [],
  exception_count: 0,
}

export const moneyOperations = [
  operation({
    id: 'creditCompany',
    request: 'POST /companies/{id}/credit',
    role: 'operator',
    stepUp: true,
    summary: 'Credit a company',
    description: 'Adds to the balance, or takes back an earlier credit.',
    parameters: [IDEMPOTENCY_KEY],
    body: {
      schema: z
        .strictObject({
          micros: z.int().refine(micros => micros !== 0, 'must not be 0'),
          note: shownName().meta({ description: 'Why: it stands in the ledger and on the statement.' }),
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
      errorRefusal('IdempotencyConflictError', 'The key has named a credit of another amount. Nothing was entered.'),
    ],
    handle: async ({ ctx, company: { _id }, body: { micros, note } }, { clock, accounts, withAudit }) => {
      const entry = `credit:${_id}:${readIdempotencyKey(ctx.get('idempotency-key')) ?? newId('aud', clock.now())}`
      return withAudit(ctx, async () => {
        const balance = await accounts.balance(_id)
        const entered = await accounts.find(_id, entry)
        if (entered && entered.micros !== micros)
          throw problem('IdempotencyConflictError', {
            detail: `This key has named a credit of ${entered.micros} micro-units. Nothing was entered: use another key.`,
          })
        if (entered) return { unchanged: { id: _id, balance } }
        if ((micros < 0 && balance + micros < 0) || !Number.isSafeInteger(balance + micros)) throw amountProblem()
        return {
          action: 'company.credit',
          target: _id,
          company_id: _id,
          before: { balance },
          after: { micros, note },
          // Null when the balance has become too low, or the same entry was made, since the plan: another plan is then made.
          perform: async () =>
            (await accounts.enter(_id, creditEntry(entry, { micros, note, by: principalOf(ctx).name }))) === 'entered'
              ? { id: _id, balance: await accounts.balance(_id) }
              : null,
        }
      })
    },
  }),
  operation({
    id: 'listLedger',
    request: 'GET /companies/{id}/ledger',
    role: 'viewer',
    alsoDeleted: true,
    summary: "List a company's ledger",
    description:
      'Every change of its balance, newest first. `from` and `to` choose a time, the others what the messages were.',
    query: z
      .strictObject({
        ...pageFields,
        from: timeQuery('Entries from this time on.'),
        to: timeQuery('Entries before this time.'),
        kind: entryKind.optional(),
        app_id: z.string().optional().meta({ description: 'Of messages of this app.' }),
        channel: channel.optional().meta({ description: 'Of messages on this channel.' }),
        country: country.optional().meta({ description: 'Of messages to this country.' }),
        delivery_id: z.string().optional().meta({ description: 'Of this message.' }),
        exception: z
          .enum([...EXCEPTION_KINDS, 'any'])
          .optional()
          .meta({ description: "That explain a difference to a vendor's invoice in this way, or in any." }),
      })
      .check(({ value: { from, to }, issues }) => {
        if (typeof from === 'number' && typeof to === 'number' && from >= to)
          issues.push({ code: 'custom', path: ['to'], message: 'must be later than from', input: to })
      }),
    answers: [page(ledgerPage, 'A page of entries.', entryExample)],
    csv: 'ledger',
    handle: async ({ ctx, company, query }, { store, accounts, readFilteredPage }) => {
      const { limit: _, cursor: __, ...filter } = query
      const { _id: company_id, seq: lastSeq } =
        company.deleted_at === undefined ? await accounts.flush(company._id) : company
      const { kind, app_id, channel, country, exception } = filter
      const listing = {
        newestFirst: (before: string | undefined, wanted: number) =>
          readLedger(store.docs('ledger'), { company_id, lastSeq, filter, before, wanted }),
        matches: matchesFilter(filter),
        selective: [kind, app_id, channel, country, exception].some(value => value !== undefined),
        show: ledgerEntryView,
      }
      return readFilteredPage(ctx, listing, query)
    },
  }),
  operation({
    id: 'readStatement',
    request: 'GET /companies/{id}/statement',
    role: 'viewer',
    alsoDeleted: true,
    summary: "Read the statement of a company's month",
    description:
      "Opening and closing balance, credits, what messages cost and what was given back by app, channel, country, provider and price, and the exceptions that explain a difference to a vendor's invoice. It adds up to the ledger. A file has the rows.",
    query: z.strictObject({
      month: z
        .string()
        .regex(MONTH, 'must be a month, such as "2026-11"')
        .optional()
        .meta({ description: "Such as `2026-11`, in the company's time zone; the current month without it." }),
    }),
    answers: [ok(statement, 'The statement.', statementExample)],
    csv: 'statement',
    csvLines: 'rows',
    // Each reads all entries of a month.
    keep: () => createConcurrencyLimit(MAX_STATEMENTS_AT_ONCE),
    handle: async ({ company, query }, { store, accounts, clock }, takeTurn) => {
      const { _id, timezone = DEFAULT_TIMEZONE } = company
      const account = company.deleted_at === undefined ? await accounts.flush(_id) : company
      const docs = { ledger: store.docs('ledger'), apps: store.docs('apps'), deletions: store.docs('deletions') }
      const month = query.month ?? monthOf(clock.now(), timezone)
      return takeTurn(() => readStatement(docs, { ...account, timezone }, month))
    },
  }),
  operation({
    id: 'reconcileCompany',
    request: 'GET /companies/{id}/reconciliation',
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
