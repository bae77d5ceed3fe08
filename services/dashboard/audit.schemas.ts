// A record of the audit log as the admin API answers it.
import { z } from 'zod'
import type { AuditDoc } from '../domain/audit.ts'
import { enumOf, jsonObject, timeSchema } from '../domain/openapi/shared-schemas.ts'
import { pageOf } from './page-schema.ts'

const outcome = enumOf<AuditDoc['outcome']>({ begun: true, done: true, undone: true }).meta({
  id: 'AuditOutcome',
  description: '`begun`: it was interrupted, and may have happened.',
})

const state = z.union([jsonObject, z.array(jsonObject)]).nullable()

export const auditRecord = z
  .object({
    id: z.string().meta({ description: 'Identifies the record.' }),
    at: timeSchema('When it began.'),
    who: z.string().meta({ description: 'The operator or user.' }),
    company_id: z.string().nullable().meta({ description: 'The company it was about.' }),
    action: z.string().meta({ description: 'What was done, such as `key.create`.' }),
    target: z.string().meta({ description: 'What it was done to.' }),
    before: state.meta({ description: 'The state before. Secrets are fingerprints.' }),
    after: state.meta({ description: 'The state after. Secrets are fingerprints.' }),
    outcome,
  })
  .meta({ id: 'AuditRecord', description: 'A change through the admin API.' })

export const auditPage = pageOf('AuditPage', auditRecord)

export type AuditState = z.output<typeof state>
export type AuditRecordAnswer = z.output<typeof auditRecord>
