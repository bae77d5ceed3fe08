// Calls a vendor over HTTP. In: a request. Out: the answer of any status with its JSON, or an error that says whether the message may have
// been sent. Errors never quote a vendor's text, because it often repeats the recipient.
import {
  ForbiddenTarget,
  Lost,
  NotSent,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from '../../../infra/outbound/outbound.ts'
import { DestinationFault, ProviderFault, UnknownOutcome } from '../provider.ts'

export interface VendorResponse extends OutboundResponse {
  /** Undefined when the body is not JSON. */
  json: unknown
}

export async function callVendor(
  outbound: Pick<Outbound, 'request'>,
  request: OutboundRequest,
): Promise<VendorResponse> {
  try {
    const response = await outbound.request(request)
    return { ...response, json: parseJson(response.body) }
  } catch (error) {
    if (error instanceof ForbiddenTarget) throw new ProviderFault('its address may not be called', { cause: error })
    if (error instanceof NotSent) throw new ProviderFault('it cannot be reached', { cause: error })
    if (error instanceof Lost) throw new UnknownOutcome('the call ended without an answer', { cause: error })
    throw error
  }
}

export const isSuccess = ({ status }: Pick<VendorResponse, 'status'>): boolean => status >= 200 && status < 300

/** The fault of an answer that is not 2xx. `code` is the vendor's own error code, for the log. `about` is `destination` when the vendor's
 *  documentation says that the error depends on the recipient's country, route or list. */
export function faultFromStatus(
  { status, headers }: OutboundResponse,
  now: number,
  code?: string | number,
  about: 'provider' | 'destination' = 'provider',
): Error {
  const summary = code === undefined ? `it answered ${status}` : `it answered ${status}, ${code}`
  // A proxy in front of the vendor timed out: the vendor may still have sent the message.
  if (status === GATEWAY_TIMEOUT) return new UnknownOutcome(summary)
  if (about === 'destination') return new DestinationFault(summary)
  return new ProviderFault(summary, { retryAfterMs: retryAfterMs(headers['retry-after'], now) })
}

const GATEWAY_TIMEOUT = 504

/** A longer pause is cut to this. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** In: a `Retry-After` header, seconds or a date. Null when it says neither. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2}/.test(text)
      ? Date.parse(text) - now
      : Number.NaN
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined when the bytes are not JSON in UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
}
