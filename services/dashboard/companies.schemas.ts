// A company as the admin API answers it.
import { z } from 'zod'
import { timeSchema } from '../domain/openapi/shared-schemas.ts'
import { pageOf } from './page-schema.ts'

export const company = z
  .object({
    id: z.string().meta({ description: 'Identifies the company.' }),
    name: z.string().meta({ description: 'The name of the company.' }),
    balance: z.int().meta({ description: 'In micro-units of your currency.' }),
    created_at: timeSchema('When it was created.'),
    closed_at: timeSchema('When it was closed: its keys are refused since. Null while it is open.').nullable(),
  })
  .meta({ id: 'Company', description: 'A tenant. Its apps share its balance.' })

export const companyPage = pageOf('CompanyPage', company)

export type CompanyAnswer = z.output<typeof company>
