// Money as the admin API answers it.
import { z } from 'zod'
import type { EntryKind } from '../../domain/money/documents.ts'
import { enumOf, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import { pageOf } from '../page-schema.ts'
import { EXCEPTION_KINDS } from './exceptions.ts'

export const account = z
  .object({
    id: z.string().meta({ description: 'The company.' }),
    balance: z.int().meta({ description: 'In micro-units.' }),
  })
  .meta({ id: 'Account', description: 'The balance of a company.' })

export const entryKind = enumOf<EntryKind>({ credit: true, hold: true, refund: true, void: true, recharge: true }).meta(
  {
    id: 'EntryKind',
    description:
      '`hold`: a message was accepted. `refund`: it failed. `void`: it was never made; with 0 micro-units, it was erased, and stays paid. `recharge`: its code was entered, or a receipt said that it had arrived, after the refund.',
  },
)

/** They outlive the verification. */
const messageFields = {
  app_id: z.string().nullable().meta({ description: 'The app of the message; null for a credit.' }),
  channel: channel.nullable().meta({ description: 'The channel of the message.' }),
  country: z.string().nullable().meta({ description: "The country of the recipient's number; null for an address." }),
  provider: z.string().nullable().meta({
    description: 'The provider that took the message; null where none did, and for the first three hours.',
  }),
}

const exceptionKind = z.enum(EXCEPTION_KINDS).meta({
  id: 'StatementExceptionKind',
  description:
    '`accepted_twice`: two calls of providers accepted the message, so two vendors may bill it, and it was charged once. `maybe_accepted_twice`: one call accepted it, and of another, around a crash or a time-out, that is not known. `refunded_and_delivered`: it failed, was given back, and was charged again because it had arrived. `refunded_without_answer`: it failed and was given back, because no provider had answered; one may have got it. `paid_without_acceptance`: it is paid, and no provider is known to have accepted it. `overdrawn`: the entry took the balance below zero.',
})

export const ledgerEntry = z
  .object({
    id: z.string().meta({ description: 'Identifies the entry.' }),
    at: timeSchema('When it was entered.'),
    kind: entryKind,
    micros: z.int().meta({ description: 'Signed, in micro-units.' }),
    balance_after: z.int().meta({ description: 'The balance after this entry.' }),
    otp_id: z
      .string()
      .nullable()
      .meta({ description: 'The verification; null for a credit and for a test of a provider.' }),
    delivery_id: z.string().nullable().meta({ description: 'The message.' }),
    note: z.string().nullable().meta({ description: 'The note of a credit, or which provider was tested.' }),
    by: z.string().nullable().meta({
      description: 'The API key whose send it was, or who credited or tested; null for refunds and the like.',
    }),
    ...messageFields,
    exceptions: z.array(exceptionKind).meta({
      description: "How it explains a difference to a vendor's invoice; known three hours after it was entered.",
    }),
  })
  .meta({ id: 'LedgerEntry', description: 'One change of a balance.' })

export const ledgerPage = pageOf('LedgerPage', ledgerEntry)

const statementRow = z
  .object({
    month: z.string().meta({ description: 'That of the statement: a file has nothing but its rows.' }),
    timezone: z.string().meta({ description: 'In which the month begins and ends.' }),
    app_id: messageFields.app_id,
    app_name: z.string().nullable().meta({ description: 'Its name now; null for an app that is gone.' }),
    channel: messageFields.channel,
    country: messageFields.country,
    provider: messageFields.provider,
    unit_micros: z.int().min(0).meta({ description: 'The price of one message.' }),
    charged: z.int().min(0).meta({ description: 'Messages that were charged.' }),
    charged_micros: z.int().meta({ description: 'Their sum, negative.' }),
    refunded: z.int().min(0).meta({ description: 'Messages that were given back.' }),
    refunded_micros: z.int().meta({ description: 'Their sum.' }),
    recharged: z.int().min(0).meta({ description: 'Messages that were charged again after they had been given back.' }),
    recharged_micros: z.int().meta({ description: 'Their sum, negative.' }),
  })
  .meta({ id: 'StatementRow', description: 'The messages of an app, channel, country, provider and price.' })

const statementException = z
  .object({
    kind: exceptionKind,
    at: timeSchema('When it was entered.'),
    otp_id: z.string().nullable().meta({ description: 'The verification.' }),
    delivery_id: z.string().nullable().meta({ description: 'The message.' }),
    micros: z.int().meta({ description: 'Signed, in micro-units.' }),
  })
  .meta({ id: 'StatementException', description: "What explains a difference to a vendor's invoice." })

export const statement = z
  .object({
    company_id: z.string().meta({ description: 'The company.' }),
    month: z.string().meta({ description: 'Such as `2026-11`.' }),
    timezone: z.string().meta({ description: 'The time zone of the company, in which the month begins and ends.' }),
    from: timeSchema('When the month begins.'),
    until: timeSchema('When the next month begins.'),
    settled_until: timeSchema(
      'Up to here the providers and the exceptions are known: three hours after an entry.',
    ).nullable(),
    opening_micros: z.int().meta({ description: 'The balance when the month began.' }),
    credits_micros: z.int().meta({ description: 'What was credited, less what was taken back.' }),
    charges_micros: z.int().meta({ description: 'What messages cost, negative.' }),
    refunds_micros: z.int().meta({ description: 'What was given back.' }),
    recharges_micros: z.int().meta({ description: 'What was charged again, negative.' }),
    closing_micros: z.int().meta({ description: 'The sum of all of the above.' }),
    rows: z.array(statementRow).meta({ description: 'The messages, by app, channel, country, provider and price.' }),
    exceptions: z.array(statementException).meta({
      description: 'In the order of their entries, at most 1 000. The ledger lists all with `exception=any`.',
    }),
    exception_count: z.int().min(0).meta({ description: 'All exceptions.' }),
  })
  .meta({ id: 'Statement', description: "A company's month." })

export const reconciliation = z
  .object({
    balance: z.int().meta({ description: 'The balance of the company.' }),
    entries: z.int().meta({ description: 'How many entries its ledger has.' }),
    sum: z.int().meta({ description: 'The sum of all entries.' }),
    deliveries: z.int().meta({ description: 'How many paid messages there are.' }),
    problems: z.array(z.string()).meta({ description: 'Every contradiction, in words. Should be empty.' }),
  })
  .meta({ id: 'Reconciliation', description: "A check of all of a company's money." })

export type StatementAnswer = z.output<typeof statement>
export type StatementRow = z.output<typeof statementRow>
export type StatementException = z.output<typeof statementException>
export type LedgerEntryAnswer = z.output<typeof ledgerEntry>
export type ReconciliationAnswer = z.output<typeof reconciliation>
