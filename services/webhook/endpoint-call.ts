// One call of an endpoint. In: an event and its endpoint. Out: how the call ended; it never throws. Every call of an event sends the same
// bytes, signed anew with the time of the call.
import type { Clock } from '../../infra/clock.ts'
import { ForbiddenTarget, NotSent, type Outbound } from '../../infra/outbound/outbound.ts'
import { withTrace } from '../../infra/trace.ts'
import type { Metadata } from '../domain/verifications/metadata.ts'
import type { EventAttempt, EventDoc } from '../domain/webhooks/documents.ts'
import { signingSecrets } from '../domain/webhooks/secrets.ts'
import { eventBody, eventHeaders } from '../domain/webhooks/signed-event.ts'
import type { Endpoint } from './endpoints.ts'
import { type KeepAnswer, MAX_ANSWER_BYTES } from './kept-answers.ts'

/** From the start of the call to the last byte of the answer that is kept. */
export const ENDPOINT_TIMEOUT_MS = 15_000

export type EndpointResult = Pick<EventAttempt, 'at' | 'ms' | 'status' | 'error' | 'sealed_response'>

/** Ends of a call that say nothing about its endpoint: this process stopped, no secret could sign the call, or its process died. */
export type InconclusiveError = 'stopped' | 'unsigned' | 'unknown'

export const inconclusiveError = ({ error }: Pick<EndpointResult, 'error'>): InconclusiveError | null =>
  error === 'stopped' || error === 'unsigned' || error === 'unknown' ? error : null

export type EndpointCall = (event: EventDoc, endpoint: Endpoint, metadata: Metadata | null) => Promise<EndpointResult>

export interface EndpointCallDeps {
  outbound: Pick<Outbound, 'request'>
  keepAnswer: KeepAnswer
  clock: Clock
}

export interface EndpointCalls {
  call: EndpointCall
  /** Ends all calls under way, and later ones at once. Whether they arrived is then unknown. */
  stop(): void
}

export function createEndpointCalls({ outbound, keepAnswer, clock }: EndpointCallDeps): EndpointCalls {
  const underWay = new Set<AbortController>()
  let stopped = false

  const call: EndpointCall = async (event, endpoint, metadata) => {
    const at = clock.now()
    const body = eventBody(event, metadata)
    const headers = headersOf(event, body, endpoint, at)
    if (!headers) return { at, ms: 0, status: null, error: 'unsigned', sealed_response: null }
    const aborting = new AbortController()
    const { signal } = aborting
    underWay.add(aborting)
    const cancel = clock.after(ENDPOINT_TIMEOUT_MS, () => aborting.abort(new Error('timeout')))
    if (stopped) aborting.abort(STOPPED)
    try {
      const request = {
        method: 'POST',
        url: endpoint.url,
        headers,
        body,
        signal,
        maxBytes: MAX_ANSWER_BYTES,
        ...withTrace(event.trace),
      } as const
      const answer = await Promise.race([outbound.request(request), rejectOnAbort(signal)])
      const ms = clock.now() - at
      return {
        at,
        ms,
        status: answer.status,
        error: null,
        sealed_response: await keepAnswer(event, endpoint, answer.body),
      }
    } catch (error) {
      return { at, ms: clock.now() - at, status: null, error: errorName(error, signal), sealed_response: null }
    } finally {
      cancel()
      underWay.delete(aborting)
    }
  }

  return {
    call,
    stop() {
      stopped = true
      for (const aborting of underWay) aborting.abort(STOPPED)
    },
  }
}

const STOPPED = new Error('stopped')

/** Null when no secret can sign: the receiver would refuse the call. */
function headersOf(event: EventDoc, body: Uint8Array, endpoint: Endpoint, at: number): Record<string, string> | null {
  const [current, ...others] = signingSecrets(endpoint.secrets, at).map(({ secret }) => secret)
  if (current === undefined) return null
  return eventHeaders(event, body, [current, ...others], at)
}

/** A call is raced against its signal, because a request may not end when it is aborted. */
const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const rejectWithReason = (): void => reject(signal.reason)
    if (signal.aborted) rejectWithReason()
    else signal.addEventListener('abort', rejectWithReason, { once: true })
  })

/** Not the error's own message, which may quote a URL with a secret in it. */
function errorName(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return signal.reason.message
  if (error instanceof ForbiddenTarget) return 'forbidden'
  return error instanceof NotSent ? 'unreachable' : 'lost'
}
