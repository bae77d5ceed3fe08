// The role of a user in a company, as the admin API takes and answers it.
import { z } from 'zod'
import { USER_ROLES } from '../domain/users/documents.ts'

export const userRole = z.enum(USER_ROLES).meta({
  id: 'UserRole',
  description: 'Every role may do what the roles before it may.',
})
