// Money and prices in the OpenAPI document.
import { z } from 'zod'
import type { ApiParameter } from '../../../infra/openapi/operation.ts'
import { errorRefusal } from '../../domain/openapi/refusals.ts'
import { creditBody } from '../money/routes.ts'
import { account, type LedgerEntryAnswer, ledgerPage, reconciliation } from '../money/schemas.ts'
import { pricePage, pricesTrial } from '../prices.schemas.ts'
import { pricesBody } from '../prices.ts'
import { adminOperation, conflict, ok, PAGE } from './admin-operation.ts'

const creditRequest = creditBody.meta({
  id: 'CreditRequest',
  description: 'Micro-units to enter, not 0. A negative number takes back an earlier credit.',
})
const pricesRequest = pricesBody.meta({ id: 'PutPricesRequest', description: 'All prices.' })

const IDEMPOTENCY_KEY: ApiParameter = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'Names this credit: it is entered once per company and key, without a time limit. A repeated call with any body answers the current balance.',
  schema: z.string().max(255),
}

const entry: LedgerEntryAnswer = {
  id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c:000000000000001',
  at: '2030-01-01T12:00:00.000Z',
  kind: 'credit',
  micros: 5_000_000,
  balance_after: 5_000_000,
  otp_id: null,
  delivery_id: null,
  note: 'invoice 17',
}
const price = { channel: 'sms', country: 'GB', micros: 40_000 }

export const moneyOperations = [
  adminOperation({
    id: 'creditCompany',
    route: ['post', '/companies/{id}/credit'],
    summary: 'Credit a company',
    description: 'Adds to the balance, or takes back an earlier credit.',
    parameters: [IDEMPOTENCY_KEY],
    request: { schema: creditRequest, example: { micros: 5_000_000, note: 'invoice 17' } },
    answers: [ok(account, 'The balance afterwards.', { id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c', balance: 5_000_000 })],
    refusals: [
      errorRefusal(
        'InvalidIdempotencyKeyError',
        'The idempotency key is longer than 255 characters, or not printable ASCII.',
      ),
    ],
  }),
  adminOperation({
    id: 'listLedger',
    route: ['get', '/companies/{id}/ledger'],
    summary: "List a company's ledger",
    description: 'Every change of its balance, newest first.',
    parameters: PAGE,
    answers: [ok(ledgerPage, 'A page of entries.', { items: [entry], next_cursor: null })],
  }),
  adminOperation({
    id: 'reconcileCompany',
    route: ['get', '/companies/{id}/reconciliation'],
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
  }),
  adminOperation({
    id: 'listPrices',
    route: ['get', '/prices'],
    summary: 'List prices',
    description: 'What a message costs, by channel and country.',
    parameters: PAGE,
    answers: [ok(pricePage, 'A page of prices.', { items: [price], next_cursor: null })],
  }),
  adminOperation({
    id: 'replacePrices',
    route: ['put', '/prices'],
    summary: 'Replace all prices',
    description: 'They apply to new messages within five seconds. An empty list makes everything free.',
    request: { schema: pricesRequest, example: { prices: [price] } },
    answers: [ok(pricePage, 'All prices as they are now.', { items: [price], next_cursor: null })],
    refusals: [conflict('Another PUT of all prices takes more than 10 s.')],
  }),
  adminOperation({
    id: 'tryPrices',
    route: ['post', '/prices/try'],
    summary: 'Count the companies that new prices would cut off',
    description:
      'Saves nothing. A company is cut off if its balance pays for some message now and would not pay for it at these prices: such live sends would be answered with 402.',
    request: { schema: pricesRequest, example: { prices: [price] } },
    answers: [ok(pricesTrial, 'What they would do.', { companies: 12, cut_off: 3 })],
  }),
]
