// Who may call which route of the admin API. In: the caller of a request. Out: a refusal, or the request goes on. An operator may do
// everything in every company. A session of a user is in one company, where the user has a role: every role may do what the roles before it
// may. A person who is only invited has the lowest role, and no company. What belongs to another company does not exist for a user: 404, as for an unknown id.
import type { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { httpException } from '../../infra/http/problem.ts'
import { USER_ROLES } from '../domain/users/documents.ts'

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
  session: { id: string; csrf_token: string; expires_at: number } | null
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

/** The lowest role that may call each route. A route that is missing here stops the process at its start. `anyone`: without a session. */
export const ROUTE_ROLES: Readonly<Record<string, Role | 'anyone'>> = {
  'POST /sign-in': 'anyone',
  'GET /session': 'anyone',
  'POST /sign-out': 'invited',
  'GET /me': 'invited',
  'POST /me/company': 'viewer',
  'POST /invitations/:id/accept': 'invited',
  'POST /invitations/:id/decline': 'invited',
  'GET /sessions': 'invited',
  'DELETE /sessions': 'invited',
  'DELETE /sessions/:id': 'invited',
  'GET /companies': 'viewer',
  'POST /companies': 'operator',
  'GET /companies/:id': 'viewer',
  'PATCH /companies/:id': 'owner',
  'POST /companies/:id/credit': 'operator',
  'GET /companies/:id/ledger': 'viewer',
  // It reads every entry and every delivery of the company.
  'GET /companies/:id/reconciliation': 'owner',
  'GET /companies/:id/users': 'viewer',
  'POST /companies/:id/users': 'owner',
  'GET /users/unstamped': 'operator',
  'POST /users/stamp': 'operator',
  'PATCH /users/:id': 'owner',
  'DELETE /users/:id': 'owner',
  'GET /companies/:id/apps': 'viewer',
  'POST /companies/:id/apps': 'developer',
  'GET /apps/:id': 'viewer',
  'PATCH /apps/:id': 'developer',
  'GET /apps/:id/keys': 'viewer',
  'POST /apps/:id/keys': 'developer',
  'PATCH /keys/:id': 'developer',
  'DELETE /keys/:id': 'developer',
  'GET /apps/:id/providers': 'viewer',
  'GET /apps/:id/providers/:name': 'viewer',
  'PUT /apps/:id/providers/:name': 'developer',
  'DELETE /apps/:id/providers/:name': 'developer',
  'POST /apps/:id/providers/:name/test': 'developer',
  'GET /apps/:id/webhook': 'viewer',
  'PUT /apps/:id/webhook': 'developer',
  'POST /apps/:id/webhook/rotate': 'developer',
  'POST /apps/:id/webhook/promote': 'developer',
  'POST /apps/:id/webhook/enable': 'developer',
  'POST /apps/:id/webhook/test': 'developer',
  'GET /apps/:id/events': 'viewer',
  'GET /events/:id': 'viewer',
  'POST /events/:id/replay': 'developer',
  'POST /apps/:id/events/replay': 'developer',
  'GET /verifications': 'viewer',
  'GET /verifications/:otp_id': 'viewer',
  'GET /apps/:id/verifications': 'viewer',
  'GET /refusals': 'viewer',
  'GET /refusals/summary': 'viewer',
  'GET /apps/:id/stats': 'viewer',
  'GET /apps/:id/health': 'viewer',
  'GET /apps/:id/fraud': 'viewer',
  'GET /apps/:id/fraud/prefixes': 'viewer',
  'POST /apps/:id/route': 'viewer',
  'GET /prices': 'viewer',
  'PUT /prices': 'operator',
  'POST /prices/try': 'operator',
  'GET /ip-lists': 'operator',
  'PUT /ip-lists': 'operator',
  'GET /sandbox/messages': 'viewer',
  'POST /sandbox/inbound': 'developer',
  'GET /privacy': 'operator',
  'POST /apps/:id/erase': 'developer',
  'GET /audit': 'viewer',
  'GET /queues': 'operator',
  'GET /queues/:queue/dead': 'operator',
  'GET /queues/:queue/dead/:id': 'operator',
  'POST /queues/:queue/dead/requeue': 'operator',
  'POST /queues/:queue/dead/drop': 'operator',
}

/** A request whose caller is known. */
export interface AdminRequest {
  state: { principal?: unknown; requestId?: string }
}

/** A request to a route with parameters in its path. */
export interface AdminRouteRequest extends AdminRequest {
  params: Record<string, string | undefined>
}

export const principalOf = ({ state }: AdminRequest): Principal => state.principal as Principal

export const mayAccessCompany = (request: AdminRequest, companyId: string): boolean => {
  const { company_id } = principalOf(request)
  return company_id === null || company_id === companyId
}

export type IdentifyPrincipal = (ctx: Context) => Principal | Promise<Principal>

/** Puts a guard in front of every route. The guard is in the route itself: `router.use` matches paths by rules of its own, which let
 *  `/ADMIN/v1/companies` pass unguarded. */
export function guardRoutes(router: Router, prefix: string, identify: IdentifyPrincipal): void {
  for (const { path, methods, stack } of router.stack) {
    const route = `${methods.find(method => method !== 'HEAD')} ${String(path).slice(prefix.length)}`
    const role = ROUTE_ROLES[route]
    if (role === undefined) throw new Error(`no role is given for the route ${route}`)
    if (role !== 'anyone') stack.unshift(createGuard(role, identify))
  }
}

const createGuard =
  (lowest: Role, identify: IdentifyPrincipal): Middleware =>
  async (ctx, next) => {
    const principal = await identify(ctx)
    if (ROLES.indexOf(principal.role) < ROLES.indexOf(lowest))
      throw httpException(
        403,
        principal.role === 'invited'
          ? 'You are in no company yet. Accept an invitation first.'
          : `This needs the role ${lowest}. Yours is ${principal.role}.`,
      )
    ctx.state.principal = principal
    return next()
  }
