// One HTTP request. In: what to send, how long to wait, and the caller's signal. Out: the answer's JSON, or a CountersignError. If the
// caller aborts, its own reason is thrown.
import { answerError } from './answer-error.ts'
import { ConnectionError, CountersignError } from './errors.ts'

export interface Request {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
}

export interface Limits {
  /** Milliseconds. */
  timeout: number
  signal?: AbortSignal | undefined
}

export async function request(send: typeof fetch, { url, ...init }: Request, limits: Limits): Promise<unknown> {
  const { timeout, signal } = limits
  signal?.throwIfAborted()
  const ending = new AbortController()
  const end = (): void => ending.abort()
  const timer = setTimeout(end, timeout)
  signal?.addEventListener('abort', end)
  try {
    // A redirect could hand recipient and code to another server. Not `error`, which Cloudflare's workers do not have.
    const response = await send(url, { ...init, redirect: 'manual', signal: ending.signal })
    const body = parse(await response.text())
    if (!response.ok || body === undefined) throw answerError(statusOf(response), response.headers, body)
    return body
  } catch (cause) {
    if (cause instanceof CountersignError) throw cause
    signal?.throwIfAborted()
    const message = ending.signal.aborted ? `No answer within ${timeout} ms.` : 'The server could not be reached.'
    throw new ConnectionError('ConnectionError', message, { cause, executed: wasNotSent(cause) ? false : null })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Browsers hide the status of a redirect that is not followed. */
const statusOf = ({ type, status }: Response): number => (type === 'opaqueredirect' ? 302 : status)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Codes of errors of Node, Deno and Bun that come before anything is sent. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/

function wasNotSent(cause: unknown): boolean {
  const { code, cause: deeper } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } }
  return [code, deeper?.code].some(one => typeof one === 'string' && NOT_CONNECTED.test(one))
}
