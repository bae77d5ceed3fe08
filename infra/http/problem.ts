// In: a problem, or any other error. Out: RFC 9457 problem+json. All errors of the API are listed in services/domain/errors.ts.
import { STATUS_CODES } from 'node:http'
import { CallTimeout } from '../broker/broker.ts'
import { MAYBE_EXECUTED, Unavailable } from '../unavailable.ts'

/** `members` stand beside the standard ones: `errors`, `scope`, `otp_status` and so on. */
export interface Extras {
  detail?: string
  members?: Record<string, unknown>
  headers?: Record<string, string>
  /** A refusal under overload: its answer may be kept back for a while (refusal-pacing.ts). */
  isPaced?: true
}

/** Any code below the HTTP shell may throw it. The shell answers with it. */
export class Problem extends Error {
  override name = 'Problem'
  readonly type: string
  readonly status: number
  readonly title: string
  readonly extras: Extras

  constructor(type: string, status: number, title: string, extras: Extras) {
    super(extras.detail ?? title)
    this.type = type
    this.status = status
    this.title = title
    this.extras = extras
  }
}

/** What a caller can tell refusals of type `HTTPException` apart by, where it would treat them differently. */
export const HTTP_CODES = [
  'invalid_key',
  'wrong_key_kind',
  'not_found',
  'method_not_allowed',
  'too_large',
  'unsupported_media_type',
  'broken_json',
] as const
export type HttpCode = (typeof HTTP_CODES)[number]

const CODES_BY_STATUS: Readonly<Record<number, HttpCode>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'unsupported_media_type',
}

/** A refusal that HTTP itself defines: unknown path, wrong key, broken JSON, body too large. */
export function httpException(
  status: number,
  detail?: string,
  headers?: Record<string, string>,
  code: HttpCode | undefined = CODES_BY_STATUS[status],
): Problem {
  return new Problem('HTTPException', status, STATUS_CODES[status] ?? 'Error', {
    ...(detail === undefined ? {} : { detail }),
    ...(headers === undefined ? {} : { headers }),
    ...(code === undefined ? {} : { members: { code } }),
  })
}

export const brokenJson = (detail?: string): Problem => httpException(400, detail, undefined, 'broken_json')

export interface ErrorKind {
  status: number
  title: string
  /** For a problem that does not set them itself. */
  headers?: Record<string, string>
}

/** The errors that infra answers with by itself. */
export const INFRA_ERRORS = {
  RateLimitExceededError: { status: 429, title: 'Too many requests' },
  ServiceUnavailableError: { status: 503, title: 'The service cannot answer now', headers: { 'Retry-After': '1' } },
} satisfies Record<string, ErrorKind>

export const problemOfKind = (type: string, { status, title, headers }: ErrorKind, extras: Extras): Problem =>
  new Problem(type, status, title, headers ? { ...extras, headers: { ...headers, ...extras.headers } } : extras)

const infraProblem = (type: keyof typeof INFRA_ERRORS, extras: Extras): Problem =>
  problemOfKind(type, INFRA_ERRORS[type], extras)

/** `scope` names what was used up. */
export function rateLimited({ scope, detail, waitMs }: { scope: string; detail: string; waitMs: number }): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return infraProblem('RateLimitExceededError', {
    detail,
    members: { scope, retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}

const NOTHING_CHANGED = 'It could not be read now. A read changes nothing: ask again.'

/** Turns any error into a problem. An error that is not a `Problem` shows only its status. `isRead`: the request changes nothing. */
export function asProblem(thrown: unknown, { isRead = false } = {}): Problem {
  if (thrown instanceof Problem) return thrown
  if (thrown instanceof Unavailable || thrown instanceof CallTimeout)
    return infraProblem('ServiceUnavailableError', { detail: isRead ? NOTHING_CHANGED : MAYBE_EXECUTED })
  return httpException(refusalStatus(thrown) ?? 500)
}

/** Koa and its parsers throw errors with a 4xx status. */
function refusalStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('status' in thrown)) return undefined
  const { status } = thrown
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined
}

export const PROBLEM_TYPE = 'application/problem+json'

/** Where the reference explains a type of error. */
export const errorAnchor = (type: string): string => `error-${type}`
export const errorPage = (type: string): string => `/docs/errors#${errorAnchor(type)}`

/** Without a public address, `doc_url` is a path: the caller knows the host that it has asked. */
export const problemBody = (
  failure: Problem,
  requestId: string,
  publicUrl: string | null = null,
): Record<string, unknown> => ({
  type: failure.type,
  title: failure.title,
  status: failure.status,
  detail: failure.extras.detail ?? `${failure.title}.`,
  request_id: requestId,
  doc_url: `${publicUrl ?? ''}${errorPage(failure.type)}`,
  ...failure.extras.members,
})
