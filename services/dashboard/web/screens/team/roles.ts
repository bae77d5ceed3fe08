// Users and their roles, in words. Every role may do what the roles before it may; services/dashboard/access.ts is the judge.
import type { Schemas } from '../../api/client.ts'

export type UserRole = Schemas['UserRole']

export interface RoleWords {
  value: UserRole
  label: string
  hint: string
}

export const ROLE_WORDS: readonly RoleWords[] = [
  {
    value: 'viewer',
    label: 'Viewer',
    hint: 'Sees everything of the company except secrets, and changes nothing.',
  },
  {
    value: 'developer',
    label: 'Developer',
    hint: 'Also creates and changes apps, keys, routing, limits, providers and the webhook, and erases a person’s data.',
  },
  {
    value: 'owner',
    label: 'Owner',
    hint: 'Also invites and removes people, changes their roles, renames the company and reconciles its money.',
  },
]

export const roleLabel = (role: UserRole): string => ROLE_WORDS.find(({ value }) => value === role)?.label ?? role

export const personOf = ({ id, name, email }: Schemas['User']): string => name ?? email ?? id
