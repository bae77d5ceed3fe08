// How webhook endpoints and providers are called. In: a request. Out: a response, or an error. Every call passes a check of the address
// that the socket connects to, so that a tenant cannot make us call our own network. Errors tell "certainly not sent" from "may have
// been sent", because a message that may have been sent must not be sent again.
import type { Trace } from '../trace.ts'

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  url: string
  headers: Readonly<Record<string, string>>
  body?: Uint8Array | string
  /** Ends the call at any stage. */
  signal: AbortSignal
  /** How much of the response's body is read; the rest is dropped. Default: 64 KiB. */
  maxBytes?: number
  /** The trace of the request that caused the call, where the code that makes the call does not run inside that request's span. */
  trace?: Trace
}

export interface OutboundResponse {
  status: number
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

export interface Outbound {
  /** Resolves with a response of any status; redirects are not followed. Rejects with `ForbiddenTarget`, `NotSent` or `Lost`. */
  request(request: OutboundRequest): Promise<OutboundResponse>
  /** For protocols other than HTTP: returns an address of the host that may be called. Rejects with `ForbiddenTarget` or `NotSent`. */
  resolve(host: string): Promise<string>
  close(): Promise<void>
}

/** The address may not be called; nothing was sent. */
export class ForbiddenTarget extends Error {
  override name = 'ForbiddenTarget'
}

/** The other side cannot have seen the request: there was no address, no connection or no TLS, or the caller aborted before. */
export class NotSent extends Error {
  override name = 'NotSent'
}

/** The connection ended, or the caller aborted, when the request may have been sent. Whether the other side acted on it is unknown. */
export class Lost extends Error {
  override name = 'Lost'
}
