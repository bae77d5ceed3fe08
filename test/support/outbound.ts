// Calls through the guard, as tests make them. What is opened here is closed after each test.
import { guardedOutbound, type OutboundOptions } from '../../infra/outbound/guarded.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../infra/outbound/outbound.ts'
import { type RawServer, rawServer } from './raw-server.ts'
import { type Answering, type Receiver, receiver } from './receiver.ts'

export const LOOPBACK = ['127.0.0.0/8']

export interface Outside {
  /** Allowed to call this machine, unless told. */
  outbound(options?: Partial<OutboundOptions>): Outbound
  receiver(answer?: Answering, options?: { tls?: boolean }): Promise<Receiver>
  rawServer(...met: Parameters<typeof rawServer>): Promise<RawServer>
}

export function outside(): Outside {
  const opened: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one)
    return one
  }
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close()
  })
  return {
    outbound: options => kept(guardedOutbound({ privateTargets: LOOPBACK, ...options })),
    receiver: async (...args) => kept(await receiver(...args)),
    rawServer: async met => kept(await rawServer(met)),
  }
}

/** Never ends by itself. */
const PATIENT = new AbortController().signal

export const get = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
  outbound.request({ method: 'GET', url, headers: {}, signal: PATIENT, ...more })

export const post = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
  get(outbound, url, { method: 'POST', body: '{}', ...more })

/** What the call was refused with; a call that is answered fails the test. */
export const refusal = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => {
      throw new Error('it was answered')
    },
    error => error,
  )

/** A connection is free for the next call a moment after its answer was read. */
export const settled = (): Promise<void> => new Promise(resolve => void setImmediate(() => setImmediate(resolve)))
