// A webhook endpoint as data: what it remembers of its calls, which events it takes, why it is paused.

/** An endpoint that is `failing` still gets webhook events; one that is `paused` gets none. */
export type EndpointStatus = 'active' | 'failing' | 'paused'

/** `exhausted`: a webhook event used up its attempts. `gone`: the endpoint answered 410. `failing`: too many failures in a row, for too
 *  long. `operator`: an operator paused it. */
export type PauseReason = 'exhausted' | 'gone' | 'failing' | 'operator'

export interface EndpointLife {
  /** Failures since the last success. */
  failures: number
  /** When the first of these failures happened; null while there is none. */
  failing_since: number | null
  /** Accurate to a minute, so that most successes need no write. */
  last_success_at: number | null
  paused: { at: number; reason: PauseReason } | null
  /** When an operator last enabled the endpoint; null if that never happened. */
  enabled_at: number | null
}

/** An endpoint accepts a webhook event by any 2xx status. `status` is null where it did not answer. */
export const isSuccess = ({ status }: { status: number | null }): boolean =>
  status !== null && status >= 200 && status < 300

/** An event of the machine, not a webhook event. `at` is when it happened. */
export type EndpointEvent =
  | { type: 'attempt.succeeded'; at: number }
  | { type: 'attempt.failed'; at: number; gone: boolean; exhausted: boolean }
  | { type: 'endpoint.enable'; at: number }
  | { type: 'endpoint.pause'; at: number }

export type EndpointEffect = { type: 'paused'; reason: PauseReason } | { type: 'recovered' }

/** The machine's state as it is stored in the endpoint's document. */
export interface SavedEndpoint {
  machine: 'endpoint'
  version: number
  value: EndpointStatus
  context: EndpointLife
}
