// Who may call the admin API: every operation names the lowest role. In: the caller of a request. Out: a refusal, or the request goes on.
// An operator may do everything in every company. A session of a user is in one company, where the user has a role: every role may do what
// the roles before it may. A person who is only invited has the lowest role, and no company. What belongs to another company does not exist
// for a user: 404, as for an unknown id.
import type { Context, Middleware } from 'koa'
import { eventLoop } from '../../infra/event-loop.ts'
import { httpException } from '../../infra/http/problem.ts'
import { USER_ROLES } from '../domain/users/documents.ts'

/** Every path of the admin API begins so. */
export const ADMIN_PATH = '/admin/v1'

/** `invited`: signed in, and a member of no company yet. */
export const ROLES = ['invited', ...USER_ROLES, 'operator'] as const

export type Role = (typeof ROLES)[number]

/** The caller of the admin API. */
export interface Principal {
  /** As the audit log names the caller. */
  name: string
  role: Role
  /** The company whose documents the caller may see; null for an operator, who may see all; NO_COMPANY for the role `invited`. */
  company_id: string | null
  /** Null for an operator. */
  user_id: string | null
  /** The name of the operator's token; null for a user. */
  operator: string | null
  /** Null for a call with an operator's token. */
  session: {
    id: string
    csrf_token: string
    expires_at: number
    /** When the person last proved who they are. */
    stepped_up_at: number
  } | null
}

/** The id of no company. */
export const NO_COMPANY = ''

export const operatorPrincipal = (name: string): Omit<Principal, 'session'> => ({
  name,
  role: 'operator',
  company_id: null,
  user_id: null,
  operator: name,
})

/** A request whose caller is known. */
export interface AdminRequest {
  /** `allowedWhenClosed`: from the declaration of the operation. */
  state: { principal?: unknown; requestId?: string; allowedWhenClosed?: unknown }
}

export const principalOf = ({ state }: AdminRequest): Principal => state.principal as Principal

export const mayAccessCompany = (request: AdminRequest, companyId: string): boolean => {
  const { company_id } = principalOf(request)
  return company_id === null || company_id === companyId
}

export type IdentifyPrincipal = (ctx: Context) => Principal | Promise<Principal>

/** In front of a handler: lets callers of a role and of those above it through. */
export const createGuard =
  (lowest: Role, identify: IdentifyPrincipal): Middleware =>
  async (ctx, next) => {
    // Of many calls that come together, one is identified in a turn.
    await eventLoop.turn()
    ctx.state.principal = await identify(ctx)
    requireRole(ctx, lowest)
    return next()
  }

/** For a change that not everyone may make who may call its operation. */
export function requireRole(request: AdminRequest, lowest: Role): void {
  const { role } = principalOf(request)
  if (ROLES.indexOf(role) >= ROLES.indexOf(lowest)) return
  throw httpException(
    403,
    role === 'invited'
      ? 'You are in no company yet. Accept an invitation first.'
      : `This needs the role ${lowest}. Yours is ${role}.`,
  )
}
