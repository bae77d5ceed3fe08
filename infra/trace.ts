// The thread of one HTTP request through all processes. In: its headers. Out: a trace, which travels beside the body of every message that
// the request causes and is in every log line about it.
//
// Unless spans are recorded (infra/tracing), it is passed on as it came, without span ids of our own: the webhook receiver's span is then a
// child of the caller's span, and not of one that no trace store has.

export interface Trace {
  /** As in the header X-Request-Id. */
  request_id: string
  /** The W3C trace context of the caller, as in the header `traceparent`; null when the caller sent none, or a malformed one. */
  traceparent: string | null
  /** When the trace began here; present only where spans are recorded. */
  traced_at?: number
}

/** Whether a text from outside can be a request id. */
export const isRequestId = (text: string): boolean => /^[A-Za-z0-9._-]{1,128}$/.test(text)

/** Version, trace id, parent id, flags. A later version may have more members after these. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const MAX_TRACEPARENT_LENGTH = 256
const INVALID_VERSION = 'ff'

/** The trace context in the form of version 00, which is all that this release knows; null for a malformed one. */
export function parseTraceparent(text: string): string | null {
  if (text.length > MAX_TRACEPARENT_LENGTH) return null
  const [, version, traceId = '', parentId = '', flags, more] = TRACEPARENT.exec(text) ?? []
  if (version === undefined || version === INVALID_VERSION || isZero(traceId) || isZero(parentId)) return null
  if (version === '00' && more !== undefined) return null
  return `00-${traceId}-${parentId}-${flags}`
}

const isZero = (hex: string): boolean => /^0+$/.test(hex)

/** Reads a trace that came with a message, member by member. Undefined where there is none, or another program wrote it. */
export function traceIn(members: unknown): Trace | undefined {
  if (typeof members !== 'object' || members === null || !('request_id' in members)) return undefined
  const { request_id } = members
  if (typeof request_id !== 'string' || !isRequestId(request_id)) return undefined
  const traceparent = 'traceparent' in members ? members.traceparent : null
  const traced_at = 'traced_at' in members ? members.traced_at : undefined
  return {
    request_id,
    traceparent: typeof traceparent === 'string' ? parseTraceparent(traceparent) : null,
    ...(typeof traced_at === 'number' ? { traced_at } : {}),
  }
}

/** What carries a trace: a message, an effect, an event. */
export interface Traced {
  trace?: Trace | undefined
}

/** The member `trace`, where there is one: it is left out of what work without a request stores and sends. */
export const withTrace = (trace: Trace | undefined): { trace?: Trace } => (trace === undefined ? {} : { trace })

/** What a log line says of a trace. */
export const requestOf = ({ trace }: Traced): { request_id?: string } => (trace ? { request_id: trace.request_id } : {})
