// The calls of the client API that the screen makes. In: what a backend or a device would pass. Out: a request, which is both made and
// shown, so that what is shown is what was sent.
import type { Schemas } from '../../api/schema.ts'

export type KeyKind = Schemas['KeyKind']
export type Channel = Schemas['Channel']

export interface ApiRequest {
  method: 'GET' | 'POST'
  path: string
  /** The API key. */
  key: string
  body: Readonly<Record<string, string>> | null
  /** The header of a solved challenge. */
  solution?: string
}

/** A request that waits for its key. */
export type RequestWithKey = (key: string) => ApiRequest

export const sendRequest = (recipient: string): RequestWithKey =>
  post('/api/v1/otp/send', { recipient } satisfies Schemas['SendRequest'])

/** Null for `channel`: the same code on the next channel. */
export const resendRequest = (otp_id: string, channel: Channel | null): RequestWithKey =>
  post('/api/v1/otp/resend', channel === null ? { otp_id } : ({ otp_id, channel } satisfies Schemas['ResendRequest']))

export const verifyRequest = (otp_id: string, code: string): RequestWithKey =>
  post('/api/v1/otp/verify', { otp_id, code } satisfies Schemas['VerifyRequest'])

export const statusRequest =
  (otp_id: string): RequestWithKey =>
  key => ({ method: 'GET', path: `/api/v1/otp/${otp_id}`, key, body: null })

export const exchangeRequest = (verification_token: string): RequestWithKey =>
  post('/api/v1/verifications/exchange', { verification_token } satisfies Schemas['ExchangeRequest'])

const post =
  (path: string, body: Record<string, string>): RequestWithKey =>
  key => ({ method: 'POST', path, key, body })
