// Makes one HTTP call. In: a request. Out: its response, or an error: `NotSent` until undici gives the request to a connected socket,
// `Lost` from then on. That moment decides, and not the kind of error: a reset means one thing before it and another after it.
import { Buffer } from 'node:buffer'
import type { Dispatcher } from 'undici'
import { VERSION } from '../version.ts'
import { ForbiddenTarget, Lost, NotSent, type OutboundRequest, type OutboundResponse } from './outbound.ts'
import type { Target } from './target.ts'

const DEFAULT_MAX_BYTES = 64 * 1024

export function callHttp(agent: Dispatcher, target: Target, request: OutboundRequest): Promise<OutboundResponse> {
  const { method, signal, maxBytes = DEFAULT_MAX_BYTES } = request
  const { origin, path, host } = target
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let ended = false
    let head: Pick<OutboundResponse, 'status' | 'headers'> | null = null
    const chunks: Buffer[] = []
    let size = 0

    /** Settles the promise, once. */
    function end(settle: () => void): void {
      if (ended) return
      ended = true
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    const fail = (error: unknown): void => end(() => reject(failure(error, host, controller !== null)))
    const answer = (): void =>
      end(() => (head === null ? reject(new Lost(`${host}: no answer`)) : resolve({ ...head, body: body() })))
    const body = (): Buffer => Buffer.concat(chunks).subarray(0, maxBytes)

    function onAbort(): void {
      // undici reports an abort only once it is connected; our caller learns of it now.
      fail(signal.reason)
      controller?.abort(new Error('aborted'))
    }

    if (signal.aborted) return fail(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    agent.dispatch(
      { origin, path, method, headers: headersOf(request), body: bodyOf(request) },
      {
        onRequestStart(started) {
          // undici starts a request again when the connection was lost. It must not be sent twice.
          if (controller !== null) fail(new Error('the connection was lost'))
          controller = started
          if (ended) started.abort(new Error('aborted'))
        },
        onResponseStart(_, status, headers) {
          if (status >= 200) head = { status, headers: joinHeaders(headers) }
        },
        onResponseData(_, chunk) {
          chunks.push(chunk)
          size += chunk.length
          if (size < maxBytes) return
          answer()
          controller?.abort(new Error('read enough'))
        },
        onResponseEnd: answer,
        onResponseError: (_, error) => fail(error),
      },
    )
  })
}

/** The error's message names only the host, because the rest of a URL may contain a secret. */
function failure(cause: unknown, host: string, started: boolean): Error {
  if (cause instanceof ForbiddenTarget) return new ForbiddenTarget(`${host}: ${cause.message}`)
  const message = `${host}: ${cause instanceof Error ? cause.message : 'aborted'}`
  return started ? new Lost(message, { cause }) : new NotSent(message, { cause })
}

/** Headers of the connection, which a caller must not set: `host` would even change the name that the certificate is checked for. */
const CONNECTION_HEADERS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i

const headersOf = ({ headers }: OutboundRequest): Record<string, string> => ({
  'user-agent': `Countersign/${VERSION}`,
  ...Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      CONNECTION_HEADERS.test(name) ? [] : [[name.toLowerCase(), value]],
    ),
  ),
})

const bodyOf = ({ body }: OutboundRequest): Buffer | null => (body === undefined ? null : Buffer.from(body))

const joinHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
