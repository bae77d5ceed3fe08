// Who may do what the viewer's role does not allow, in the same words on every screen. Pure.
import type { Schemas } from '../api/schema.ts'

type Role = NonNullable<Schemas['Me']['role']>

const WHO: Readonly<Record<Exclude<Role, 'viewer'>, string>> = {
  developer: 'developers and owners of your company',
  owner: 'owners of your company',
  operator: 'operators of this deployment',
}

/** "Only owners of your company can invite people." In: the lowest role that may, and what, after "can". */
export const onlyRole = (lowest: keyof typeof WHO, deed: string): string => `Only ${WHO[lowest]} can ${deed}.`
