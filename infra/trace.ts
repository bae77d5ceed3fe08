// The thread of one HTTP request through all processes. It travels beside the body of every message that the request causes, and is in every
// log line about it.
export interface Trace {
  /** As in the header X-Request-Id. */
  request_id: string
  /** The W3C trace context of the caller, as in the header `traceparent`; null when the caller sent none, or a malformed one. */
  traceparent: string | null
}
