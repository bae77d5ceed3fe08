// Money as the admin API answers it.
import { z } from 'zod'
import type { EntryKind } from '../../domain/money/documents.ts'
import { enumOf, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'

export const account = z
  .object({
    id: z.string().meta({ description: 'The company.' }),
    balance: z.int().meta({ description: 'In micro-units.' }),
  })
  .meta({ id: 'Account', description: 'The balance of a company.' })

const entryKind = enumOf<EntryKind>({ credit: true, hold: true, refund: true, void: true, recharge: true }).meta({
  id: 'EntryKind',
  description:
    '`hold`: a message was accepted. `refund`: it failed. `void`: it was never made; with 0 micro-units, it was erased, and stays paid. `recharge`: its code was entered after the refund.',
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
  })
  .meta({ id: 'LedgerEntry', description: 'One change of a balance.' })

export const ledgerPage = pageOf('LedgerPage', ledgerEntry)

export const reconciliation = z
  .object({
    balance: z.int().meta({ description: 'The balance of the company.' }),
    entries: z.int().meta({ description: 'How many entries its ledger has.' }),
    sum: z.int().meta({ description: 'The sum of all entries.' }),
    deliveries: z.int().meta({ description: 'How many paid messages there are.' }),
    problems: z.array(z.string()).meta({ description: 'Every contradiction, in words. Should be empty.' }),
  })
  .meta({ id: 'Reconciliation', description: "A check of all of a company's money." })

export type LedgerEntryAnswer = z.output<typeof ledgerEntry>
export type ReconciliationAnswer = z.output<typeof reconciliation>
