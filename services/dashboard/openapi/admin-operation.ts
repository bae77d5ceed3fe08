// Describes one operation of the admin API. In: what is particular to it. Out: an ApiOperation with what all have in common: who may call
// it, the parameters of its path, and the refusals that every route can answer.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import type { ApiAnswer, ApiOperation, ApiParameter, ApiRefusal, HttpMethod } from '../../../infra/openapi/operation.ts'
import { commonRefusal, documentRefusal, errorRefusal } from '../../domain/openapi/refusals.ts'
import { ROUTE_ROLES } from '../access.ts'

export interface AdminOperation {
  id: string
  /** Its path follows /admin/v1. */
  route: readonly [HttpMethod, string]
  summary: string
  description: string
  /** Parameters that are not in the path. */
  parameters?: readonly ApiParameter[]
  /** `required` unless told otherwise. */
  request?: { schema: z.ZodType; example: unknown; required?: boolean }
  answers: readonly ApiAnswer[]
  /** Those that not every route has. */
  refusals?: readonly ApiRefusal[]
  /** For a route that anyone may call. */
  open?: true
}

export function adminOperation(one: AdminOperation): ApiOperation {
  const { id, route, summary, description, parameters = [], request, answers, refusals = [], open = false } = one
  const [method, path] = route
  const role: string | undefined = ROUTE_ROLES[`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]
  return {
    id,
    method,
    path: `/admin/v1${path}`,
    summary,
    description: role === undefined || open ? description : `${description} Lowest role: \`${role}\`.`,
    security: open ? [] : [['operator'], method === 'get' ? ['session'] : ['session', 'csrf']],
    parameters: [...pathParameters(path), ...parameters],
    request: request === undefined ? null : { required: true, ...request },
    answers,
    refusals: [
      ...(open ? [] : [refusal.unauthorized, refusal.forbidden]),
      ...(path.includes('{') ? [refusal.notFound] : []),
      ...(request === undefined ? [] : [commonRefusal.brokenJson, commonRefusal.tooLarge, commonRefusal.notJson]),
      ...(request === undefined && parameters.length === 0 && method === 'get' ? [] : [refusal.invalid]),
      refusal.throttled,
      commonRefusal.failed,
      refusal.unavailable,
      ...(mayMeetClosedCompany(method, path, role) ? [refusal.companyClosed] : []),
      ...refusals,
    ],
  }
}

/** Users of a closed company change nothing, except that they erase people. */
const mayMeetClosedCompany = (method: HttpMethod, path: string, role: string | undefined): boolean =>
  method !== 'get' && (role === 'developer' || role === 'owner') && !path.endsWith('/erase')

const refusal = {
  unauthorized: documentRefusal("There is no valid operator's token, and no valid session.", httpException(401)),
  forbidden: documentRefusal(
    "The role of the user is too low, or the request of a session has no valid CSRF token or another page's Origin.",
    httpException(403),
  ),
  notFound: documentRefusal('There is no such thing, or it belongs to another company.', httpException(404)),
  companyClosed: documentRefusal('The company of the user is closed. Nothing was changed.', httpException(409)),
  invalid: errorRefusal('ValidationError', 'Something in the request is malformed. Nothing was changed.', {
    errors: [{ path: 'name', message: 'is required' }],
  }),
  throttled: errorRefusal('RateLimitExceededError', 'Too many wrong tokens or codes came from this address.', {
    scope: 'operator_token',
    retry_after: 42,
  }),
  unavailable: errorRefusal(
    'ServiceUnavailableError',
    'The store is unavailable, or other requests keep changing the same document.',
  ),
}

/** For a route that looks for something that is named outside its path. */
export const notFoundRefusal = refusal.notFound

export const conflict = (when: string): ApiRefusal => documentRefusal(when, httpException(409))

export const ok = (
  schema: z.ZodType,
  description: string,
  example: unknown,
  status: 200 | 201 | 202 = 200,
): ApiAnswer => ({ status, schema, description, examples: { example } })

export const noContent = (description: string): ApiAnswer => ({ status: 204, schema: null, description, examples: {} })

/** What stands in a path, by the segment before it. */
const PATH_PARAMETERS: Record<string, { description: string; example: string }> = {
  companies: { description: 'The company.', example: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  apps: { description: 'The app.', example: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  keys: { description: 'The API key, by its id.', example: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  providers: { description: 'The name of the provider.', example: 'main-sms' },
  events: { description: 'The event, by its id.', example: 'evt_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  verifications: { description: 'The verification.', example: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  users: { description: 'The user.', example: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  sessions: { description: 'The session.', example: 'ses_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  queues: { description: 'The queue.', example: 'otp.reports' },
  dead: { description: 'The dead letter, by its id.', example: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55' },
}

const pathParameters = (path: string): ApiParameter[] =>
  [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(([, segment = '', name = '']) => ({
    name,
    in: 'path',
    schema: z.string(),
    ...(PATH_PARAMETERS[segment] ?? { description: `The ${name}.`, example: name }),
  }))

export const query = (name: string, description: string, schema: z.ZodType = z.string()): ApiParameter => ({
  name,
  in: 'query',
  description,
  schema,
})

/** The parameters of every list. */
export const PAGE: readonly ApiParameter[] = [
  query('limit', 'How many items a page has at most; 50 without it.', z.int().min(1).max(100)),
  query('cursor', 'The `next_cursor` of the page before, of the same list with the same filters.'),
]

export const timeQuery = (name: string, description: string): ApiParameter => query(name, description, z.iso.datetime())
