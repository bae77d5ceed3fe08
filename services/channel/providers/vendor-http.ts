// Calls a vendor over HTTP. In: a request. Out: the answer of any status with its JSON, or an error that says whether the message may have
// been sent. The messages of errors never quote a vendor's text, because it often repeats the recipient; the text goes beside them, and is
// scrubbed before it is stored.

import type { z } from 'zod'
import {
  ForbiddenTarget,
  Lost,
  NotSent,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from '../../../infra/outbound/outbound.ts'
import type { ErrorCodes, VendorErrors } from '../../domain/tenancy/provider-types/declaration.ts'
import {
  type Accepted,
  DestinationFault,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
  UnsubscribedFault,
  type VendorAnswer,
} from '../provider.ts'

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

export interface JsonCall {
  url: string
  headers: Readonly<Record<string, string>>
  body: unknown
  signal: AbortSignal
}

export const postJson = (outbound: Pick<Outbound, 'request'>, { url, headers, body, signal }: JsonCall) =>
  callVendor(outbound, {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    signal,
  })

export const isSuccess = ({ status }: Pick<VendorResponse, 'status'>): boolean => status >= 200 && status < 300

/** What a vendor said with an answer that is not a success. `code` is the vendor's own error code. */
export const vendorAnswer = (answer: VendorResponse, code?: string | number): VendorAnswer => ({
  httpStatus: answer.status,
  vendorCode: code === undefined ? null : String(code),
  vendorText: textOf(answer),
})

export interface AnswerReading {
  /** Finds the vendor's id of the message in a success. */
  id: z.ZodType<string>
  /** The vendor's own error code. It is logged, so it must not be text that may hold a recipient. */
  code: string | undefined
  errors: VendorErrors
}

/** What an answer to a message says: the vendor accepted it, or the fault that its error code or its status names. */
export function readAnswer(answer: VendorResponse, now: number, { id, code, errors }: AnswerReading): Accepted {
  if (isSuccess(answer) && code === undefined) {
    const accepted = id.safeParse(answer.json)
    if (accepted.success) return { reference: accepted.data, httpStatus: answer.status }
    throw successWithoutId(answer)
  }
  if (answer.status < 500 && isListed(errors.unsubscribed, code))
    throw new UnsubscribedFault(answerSummary(answer, code), { answer: vendorAnswer(answer, code) })
  if (answer.status < 500 && isListed(errors.recipient, code))
    throw new RecipientFault(answerSummary(answer, code), { answer: vendorAnswer(answer, code) })
  throw faultFromStatus(answer, now, code, isListed(errors.destination, code) ? 'destination' : 'provider')
}

export const isListed = (codes: ErrorCodes | undefined, code: string | undefined): boolean =>
  codes !== undefined && code !== undefined && Object.hasOwn(codes, code)

/** The fault of an answer that is not 2xx. `code` is the vendor's own error code, which is logged. `about` is `destination` when the
 *  vendor's documentation says that the error depends on the recipient's country, route or list. */
export function faultFromStatus(
  response: VendorResponse,
  now: number,
  code?: string | number,
  about: 'provider' | 'destination' = 'provider',
): Error {
  const { status, headers } = response
  const summary = answerSummary(response, code)
  const answer = vendorAnswer(response, code)
  // A proxy in front of the vendor timed out: the vendor may still have sent the message.
  if (status === GATEWAY_TIMEOUT) return new UnknownOutcome(summary, { answer })
  if (about === 'destination') return new DestinationFault(summary, { answer })
  return new ProviderFault(summary, { answer, retryAfterMs: retryAfterMs(headers['retry-after'], now) })
}

/** For the log: an answer in a few words, without its text. */
const answerSummary = ({ status }: Pick<VendorResponse, 'status'>, code?: string | number): string =>
  code === undefined ? `it answered ${status}` : `it answered ${status}, ${code}`

/** A success that does not say which message it is about may come from anything between us and the vendor. */
export function successWithoutId({ status }: VendorResponse): UnknownOutcome {
  const vendorText = 'it answered with success, without an id of the message'
  return new UnknownOutcome(vendorText, { answer: { httpStatus: status, vendorCode: null, vendorText } })
}

/** Enough of a page that is not JSON to find its text. */
const MAX_PAGE_BYTES = 4_096

const lenientUtf8 = new TextDecoder()

/** The text for people in an answer; that of a web page without its tags. */
function textOf({ json, body }: VendorResponse): string | null {
  if (json !== undefined) return errorTextIn(json)
  const page = lenientUtf8.decode(body.subarray(0, MAX_PAGE_BYTES))
  return errorTextIn(page.replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]*>/gi, ' '))
}

/** The members that hold such a text at the vendors we know and at most gateways, best first. */
const TEXT_MEMBERS = [
  'title',
  'message',
  'Message',
  'detail',
  'details',
  'description',
  'error_message',
  'error',
  'errors',
  'error_data',
]
const MAX_DEPTH = 3

/** The sentence for people in a vendor's error, as it was parsed; null where there is none. It is the vendor's own and
 *  may repeat the recipient or the code. */
export function errorTextIn(json: unknown): string | null {
  const texts = [...new Set(textsIn(json, 0))]
  return texts.length === 0 ? null : texts.join('. ')
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  if (Array.isArray(value)) return depth < MAX_DEPTH ? textsIn(value[0], depth + 1) : []
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return []
  const members = value as Record<string, unknown>
  return TEXT_MEMBERS.flatMap(name => textsIn(members[name], depth + 1))
}

const GATEWAY_TIMEOUT = 504

/** In: a `Retry-After` header, seconds or a date. Null when it says neither. How long a provider is paused at most is
 *  decided by its gate. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2}/.test(text)
      ? Date.parse(text) - now
      : Number.NaN
  return Number.isNaN(ms) ? null : Math.max(ms, 0)
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
