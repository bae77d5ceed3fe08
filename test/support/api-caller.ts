// A caller of the public API with one API key. In: the members of a request. Out: the whole answer, for a test to check.

import { checkDocumented, parseBody } from './documented-answers.ts'

// biome-ignore lint/suspicious/noExplicitAny: the JSON of any answer, to be compared
type Json = any

export interface Answer {
  status: number
  headers: Headers
  body: Json
  /** The body before parsing. */
  text: string
}

export interface SendOptions {
  client_ip?: string
  locale?: string
  metadata?: unknown
  /** The idempotency-key header. */
  idempotency?: string
  /** The X-Forwarded-For header: the address of a device behind a proxy. */
  forwarded?: string
  /** The challenge-solution header. */
  solution?: string
}

export interface Caller {
  key: string
  send(recipient: string, options?: SendOptions): Promise<Answer>
  resend(otp_id: string, channel?: string, options?: Pick<SendOptions, 'solution'>): Promise<Answer>
  verify(otp_id: string, code: string): Promise<Answer>
  status(otp_id: string): Promise<Answer>
  cancel(otp_id: string): Promise<Answer>
  exchange(verification_token: string): Promise<Answer>
}

export async function ask(url: string, { token, ...init }: RequestInit & { token?: string }): Promise<Answer> {
  const headers = new Headers(init.headers)
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
  if (init.body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json')
  const response = await fetch(url, { ...init, headers })
  const text = await response.text()
  const type = response.headers.get('content-type')
  const answer = { status: response.status, headers: response.headers, body: parseBody(text, type), text }
  const { pathname: path } = new URL(url)
  checkDocumented({ ...answer, method: init.method ?? 'GET', path, type })
  return answer
}

/** `tick` runs before every call. */
export function createCaller(url: string, key: string, tick: () => Promise<unknown> = async () => {}): Caller {
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    await tick()
    return ask(`${url}/api/v1${path}`, { method: 'POST', token: key, headers, body: JSON.stringify(body) })
  }
  return {
    key,
    send: (recipient, { idempotency, forwarded, solution, ...rest } = {}) =>
      post(
        '/otp/send',
        { recipient, ...rest },
        {
          ...(idempotency === undefined ? {} : { 'Idempotency-Key': idempotency }),
          ...(forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }),
          ...solutionHeader(solution),
        },
      ),
    resend: (otp_id, channel, { solution } = {}) =>
      post('/otp/resend', { otp_id, ...(channel === undefined ? {} : { channel }) }, solutionHeader(solution)),
    verify: (otp_id, code) => post('/otp/verify', { otp_id, code }),
    status: otp_id => ask(`${url}/api/v1/otp/${otp_id}`, { token: key }),
    cancel: otp_id => post('/otp/cancel', { otp_id }),
    exchange: verification_token => post('/verifications/exchange', { verification_token }),
  }
}

const solutionHeader = (solution: string | undefined): Record<string, string> =>
  solution === undefined ? {} : { 'Challenge-Solution': solution }

/** The members of a refusal that a test compares: all except those that differ from call to call, and its wording. */
export const refusal = ({ status, body }: Answer) => {
  const { title, detail, request_id, doc_url, ...members } = body
  return { ...members, status }
}
