// Calls the client API as a backend or a device would: with an API key. In: a request. Out: the request that was made
// and its answer, also a refusal, because the screen shows both.
import { Problem } from '../../api/problem.ts'
import type { Schemas } from '../../api/schema.ts'
import type { ApiRequest, KeyKind, RequestWithKey } from './api-request.ts'
import type { Challenge } from './solve-in-worker.ts'
import { testKey } from './test-keys.ts'

export interface Call {
  request: ApiRequest
  status: number
  body: unknown
  ms: number
}

/** A key that was revoked meanwhile is replaced, once. */
export async function callApi(appId: string, kind: KeyKind, withKey: RequestWithKey): Promise<Call> {
  const key = await testKey(appId, kind)
  const first = await perform(withKey(key))
  if (first.status !== 401) return first
  return perform(withKey(await testKey(appId, kind, key)))
}

/** The proof of work that the API asks the device for before it repeats the call; null of any other answer. The widget of a vendor is shown
 *  by the pages that the app lists, and cannot be solved here. */
export function challengeOf({ status, body }: Call): Challenge | null {
  const challenge = (body as { challenge?: Schemas['Challenge'] } | null)?.challenge
  return status === 403 && challenge?.type === 'pow' ? challenge : null
}

async function perform(request: ApiRequest): Promise<Call> {
  const { method, path, key, body, solution } = request
  const started = performance.now()
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (body !== null) headers['content-type'] = 'application/json'
  if (solution !== undefined) headers['challenge-solution'] = solution
  const response = await fetch(path, {
    method,
    headers,
    // The key says who calls. A dashboard whose process does not play the edge also wants to see the session.
    credentials: 'same-origin',
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw Problem.unreachable()
  })
  const answer: unknown = await response.json().catch(() => null)
  return { request, status: response.status, body: answer, ms: Math.round(performance.now() - started) }
}

/** The body of an accepted call; null of a refused one. `T` is what the API documents for the request. */
export const acceptedBody = <T>(call: Call | null): T | null =>
  call !== null && call.status === 200 ? (call.body as T) : null

/** Why a call was refused, in the API's words. */
export function refusalOf(call: Call | null): string | undefined {
  if (call === null || call.status < 400) return undefined
  const { detail, retry_after } = (call.body ?? {}) as { detail?: string; retry_after?: number }
  const why = detail ?? `The API answered ${call.status}.`
  return retry_after === undefined ? why : `${why} Try again in ${retry_after} s.`
}
