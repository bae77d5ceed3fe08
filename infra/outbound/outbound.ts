// How we call others: webhook endpoints and providers. Every call goes through one guard, which looks at the address the socket
// connects to, so that nobody makes us call our own network. What comes back tells three endings apart, because a message that may
// have gone must never be sent a second time: an answer, certainly not sent, nobody knows.

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  url: string
  headers: Readonly<Record<string, string>>
  body?: Uint8Array | string
  /** Ends the call, wherever it is. */
  signal: AbortSignal
  /** The most of the response's body that is read; the rest is dropped. 64 KiB unless told. */
  maxBytes?: number
}

export interface OutboundResponse {
  status: number
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

export interface Outbound {
  /** Answers whatever the status; redirects are not followed. Rejects with `ForbiddenTarget`, `NotSent` or `Lost`. */
  request(request: OutboundRequest): Promise<OutboundResponse>
  /** For protocols other than HTTP: an address of this host that may be called. Rejects with `ForbiddenTarget` or `NotSent`. */
  resolve(host: string): Promise<string>
  close(): Promise<void>
}

/** The guard refused the address; nothing was sent. */
export class ForbiddenTarget extends Error {
  override name = 'ForbiddenTarget'
}
/** The other side cannot have seen the request: no name, no connection, no TLS, or told to stop before. */
export class NotSent extends Error {
  override name = 'NotSent'
}
/** The request was, or may have been, on its way when the connection ended or we gave up: whether it was acted on is unknown. */
export class Lost extends Error {
  override name = 'Lost'
}
