// Calls through the guard, as tests make them. What is opened here is closed after each test.
import { createOutbound, type OutboundOptions } from '../../infra/outbound/guarded-outbound.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../infra/outbound/outbound.ts'
import { type RawServer, startRawServer } from './raw-server.ts'
import { type AnswerRequest, type Receiver, startReceiver } from './receiver.ts'

export const LOOPBACK = ['127.0.0.0/8']

export interface OutboundFixtures {
  /** Allowed to call this machine, unless told. */
  outbound(options?: Partial<OutboundOptions>): Outbound
  receiver(answer?: AnswerRequest, options?: { tls?: boolean }): Promise<Receiver>
  rawServer(...met: Parameters<typeof startRawServer>): Promise<RawServer>
}

export function useOutbound(): OutboundFixtures {
  const opened: { close(): Promise<void> }[] = []
  const closeLater = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one)
    return one
  }
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close()
  })
  return {
    outbound: options => closeLater(createOutbound({ privateTargets: LOOPBACK, ...options })),
    receiver: async (...args) => closeLater(await startReceiver(...args)),
    rawServer: async met => closeLater(await startRawServer(met)),
  }
}

/** Never ends by itself. */
const NEVER_ABORTED = new AbortController().signal

export const get = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
  outbound.request({ method: 'GET', url, headers: {}, signal: NEVER_ABORTED, ...more })

export const post = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
  get(outbound, url, { method: 'POST', body: '{}', ...more })

/** What the call was refused with; a call that is answered fails the test. */
export const errorOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => {
      throw new Error('it was answered')
    },
    error => error,
  )

/** A connection is free for the next call a moment after its answer was read. */
export const connectionFreed = (): Promise<void> =>
  new Promise(resolve => void setImmediate(() => setImmediate(resolve)))
