// Outbound calls, and servers to call, for tests. They are closed after each test.
import { createOutbound, type OutboundOptions } from '../../infra/outbound/guarded-outbound.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../infra/outbound/outbound.ts'
import { type RawServer, startRawServer } from './raw-server.ts'
import { type AnswerRequest, type Receiver, startReceiver } from './receiver.ts'

export const LOOPBACK = ['127.0.0.0/8']

interface OutboundFixtures {
  /** May call this machine, unless the options say otherwise. */
  outbound(options?: Partial<OutboundOptions>): Outbound
  receiver(answer?: AnswerRequest, options?: { tls?: boolean }): Promise<Receiver>
  rawServer(...args: Parameters<typeof startRawServer>): Promise<RawServer>
}

export function useOutbound(): OutboundFixtures {
  const opened: { close(): Promise<void> }[] = []
  const closeLater = <T extends { close(): Promise<void> }>(closable: T): T => {
    opened.push(closable)
    return closable
  }
  afterEach(async () => {
    for (const closable of opened.splice(0).toReversed()) await closable.close()
  })
  return {
    outbound: options => closeLater(createOutbound({ privateTargets: LOOPBACK, ...options })),
    receiver: async (...args) => closeLater(await startReceiver(...args)),
    rawServer: async (...args) => closeLater(await startRawServer(...args)),
  }
}

const NEVER_ABORTED = new AbortController().signal

export const get = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
  outbound.request({ method: 'GET', url, headers: {}, signal: NEVER_ABORTED, ...more })

export const post = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
  get(outbound, url, { method: 'POST', body: '{}', ...more })

/** The error that the call rejects with; fails when the call is answered. */
export const errorOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => {
      throw new Error('the call was answered')
    },
    error => error,
  )

/** Resolves when a connection can be used again, which is shortly after its answer was read. */
export const connectionFreed = (): Promise<void> =>
  new Promise(resolve => void setImmediate(() => setImmediate(resolve)))
