// A user of the dashboard as the admin API answers it.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'
import { userRole } from '../user-role.schemas.ts'

export const user = z
  .object({
    id: z.string().meta({ description: 'Identifies the user.' }),
    company_id: z.string().meta({ description: 'The company of the user.' }),
    email: z.string().nullable().meta({ description: 'Null when its data key is not configured now.' }),
    name: z.string().nullable().meta({ description: 'The name of the user.' }),
    role: userRole,
    invited_until: timeSchema('When the invitation ends; null once it is accepted.').nullable(),
    created_at: timeSchema('When the user was invited.'),
    last_sign_in_at: timeSchema('When the user last signed in to this company.').nullable(),
  })
  .meta({ id: 'User', description: 'A member of a company, or a person who is invited.' })

export const invitation = user
  .extend({
    mailed: z
      .boolean()
      .meta({ description: 'Whether the person was told by email. If not, pass the address of the dashboard on.' }),
  })
  .meta({ id: 'NewInvitation', description: 'A new or renewed invitation.' })

export const userPage = pageOf('UserPage', user)

export const unstampedUsers = z
  .object({ items: z.array(user) })
  .meta({ id: 'UnstampedUsers', description: 'Users that were without a stamp.' })

export type UserAnswer = z.output<typeof user>
