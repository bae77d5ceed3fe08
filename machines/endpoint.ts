// A webhook endpoint as data: what is remembered of its calls, what can happen to it, why it is paused.

/** `failing` still gets events; only `paused` gets none. */
export type EndpointStatus = 'active' | 'failing' | 'paused'

/** `exhausted`: an event used up its attempts. `gone`: it answered 410. `failing`: too many failures in a row, for too long.
 *  `operator`: somebody paused it. */
export type PauseReason = 'exhausted' | 'gone' | 'failing' | 'operator'

export interface EndpointLife {
  /** Failures since the last success. */
  failures: number
  /** The first of them; null while there is none. */
  failing_since: number | null
  /** To the minute: a success is the ordinary case and not worth a write each. */
  last_success_at: number | null
  paused: { at: number; reason: PauseReason } | null
  /** When it was last enabled again; null when it never was. */
  enabled_at: number | null
}

/** `at` is when it happened. */
export type EndpointEvent =
  | { type: 'attempt.succeeded'; at: number }
  | { type: 'attempt.failed'; at: number; gone: boolean; exhausted: boolean }
  | { type: 'endpoint.enable'; at: number }
  | { type: 'endpoint.pause'; at: number }

/** `enabled`: what was kept meanwhile is to be sent. */
export type EndpointEffect = { type: 'paused'; reason: PauseReason } | { type: 'enabled' } | { type: 'recovered' }

/** As it lies in the store, in the endpoint's document. */
export interface SavedEndpoint {
  machine: 'endpoint'
  version: number
  value: EndpointStatus
  context: EndpointLife
}
