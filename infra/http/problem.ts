// In: a problem, or anything else thrown. Out: RFC 9457 problem+json. The product's own list of errors is in services/domain/errors.ts.
import { STATUS_CODES } from 'node:http'
import { CallTimeout, Unroutable } from '../broker/broker.ts'
import { Unavailable } from '../unavailable.ts'

/** Members beside the standard ones (`errors`, `scope`, `otp_status`, …) and response headers. */
export interface Extras {
  detail?: string
  members?: Record<string, unknown>
  headers?: Record<string, string>
}

/** Throw it anywhere below the HTTP shell. */
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

/** What HTTP itself refuses: unknown route, bad key, broken JSON, too large. */
export const httpException = (status: number, detail?: string, headers?: Record<string, string>): Problem =>
  new Problem('HTTPException', status, STATUS_CODES[status] ?? 'Error', {
    ...(detail === undefined ? {} : { detail }),
    ...(headers === undefined ? {} : { headers }),
  })

/** An engine is away, or a call was not answered in time. */
export const unavailable = (extras: Extras = {}): Problem =>
  new Problem('ServiceUnavailableError', 503, 'The service cannot answer now', extras)

const RETRY_AFTER_SECONDS = '1'

/** Anything thrown becomes a problem; what is not one of ours shows nothing of its inside. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  if (thrown instanceof Unavailable || thrown instanceof CallTimeout || thrown instanceof Unroutable)
    return unavailable({
      detail: 'It may or may not have been executed. Retry with the same idempotency key.',
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    })
  return httpException(refusalStatus(thrown) ?? 500)
}

/** koa and its parsers throw errors that carry a client-error status. */
function refusalStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('status' in thrown)) return undefined
  const { status } = thrown
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined
}

export const problemBody = (failure: Problem, requestId: string): Record<string, unknown> => ({
  type: failure.type,
  title: failure.title,
  status: failure.status,
  detail: failure.extras.detail ?? `${failure.title}.`,
  request_id: requestId,
  ...failure.extras.members,
})
