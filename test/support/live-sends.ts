// Live sends to one HTTP gateway while processes and connections die. Every send has a recipient of its own, so that the gateway's requests
// tell which sends arrived, when, and how often.
import { expect } from 'chai'
import { type Answer, type Caller, createCaller } from './api-caller.ts'
import { eventually } from './eventually.ts'
import type { Env, Site } from './site.ts'
import { type HttpGateway, startHttpGateway } from './vendors/http-gateway.ts'

const KEY = 'sk_live_0123456789abcdef'
const CALLERS = 16
/** A call of the gateway takes a moment, so that a kill often comes during one. */
const GATEWAY_MS = 30
/** A steady load that no machine refuses: few callers, each of which waits for its answer, and sends no more often than this. */
const STEADY = { callers: 6, everyMs: 100 }

export interface LiveSends {
  /** For every process of the site. */
  env: Env
  /** Sends from all callers. Once half of `enough` more are accepted, `disturb` runs while the callers go on, until `enough` are accepted
   *  or the process does not answer any more. */
  sendUntil(url: string, enough: number, disturb: () => Promise<void>): Promise<void>
  /** Sends from a few callers until `task` is done. */
  sendDuring(url: string, task: () => Promise<void>): Promise<void>
  /** What was answered in place of 200 during `sendDuring`, and how often. */
  failures(): Record<string, number>
  /** How many sends were answered with 200. */
  accepted(): number
  /** How many of the accepted sends have not arrived at the gateway. */
  missing(): number
  /** Waits until every accepted send has arrived. */
  waitForAll(): Promise<void>
  /** The time from `since` to the last first arrival; 0 when none arrived after `since`. */
  lastArrivalAfter(since: number): number
  /** The longest time from an answer with 200 to the first arrival at the gateway. */
  slowestMs(): number
  /** How many arrived once, twice, three times and so on: `{ 1: 99, 2: 1 }`. */
  arrivalCounts(): Record<number, number>
}

const FIRST_NUMBER = 5_560_000

/** While an engine is away every send is refused, and callers wait a moment, as a client does. */
async function retryLater({ status, text }: Answer): Promise<void> {
  expect(status, text).to.equal(503)
  await new Promise(resolve => setTimeout(resolve, 20))
}

export const LIVE_SEND_ENV = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', LOG_LEVEL: 'info' }

/** Call it in a suite. Answers a function that begins sends on a site; their gateway is closed after the test. */
export function useLiveSends(): (site: Site, options?: { gatewayMs?: number }) => Promise<LiveSends> {
  const gateways: HttpGateway[] = []
  afterEach(() => Promise.all(gateways.splice(0).map(gateway => gateway.close())))
  return async (site, { gatewayMs = GATEWAY_MS } = {}) => {
    const gateway = await startHttpGateway()
    gateways.push(gateway)
    return createLiveSends(site, gateway, gatewayMs)
  }
}

async function createLiveSends(site: Site, gateway: HttpGateway, gatewayMs: number): Promise<LiveSends> {
  const arrivals = new Map<string, number[]>()
  /** When each recipient's send was accepted. */
  const accepted = new Map<string, number>()
  gateway.always(({ body }) => {
    const { recipient } = JSON.parse(body.toString()) as { recipient: string }
    arrivals.set(recipient, [...(arrivals.get(recipient) ?? []), Date.now()])
    return { fault: { kind: 'slow', ms: gatewayMs } }
  })
  const highLimit = [{ max: 100_000, seconds: 60 }]
  const app = {
    id: 'app_shop',
    name: 'Shop',
    settings: { limits: { app_without_client_ip: highLimit } },
    keys: [{ id: 'key_a', key: KEY }],
    providers: [{ name: 'gateway', channel: 'sms', type: 'http', config: { url: gateway.url } }],
  }
  const companies = [{ id: 'cmp_acme', name: 'Acme', apps: [app] }]
  let numbers = 0
  const failures: Record<string, number> = {}
  /** Null when there was no answer. */
  async function sendOne(caller: Caller): Promise<Answer | null> {
    const recipient = `+1415${FIRST_NUMBER + numbers++}`
    const answer = await caller.send(recipient).catch(() => null)
    if (answer?.status === 200) accepted.set(recipient, Date.now())
    return answer
  }
  const missing = (): number => [...accepted.keys()].filter(recipient => !arrivals.has(recipient)).length

  return {
    env: { BOOTSTRAP_FILE: await site.write('bootstrap.json', { companies }) },
    async sendUntil(url, enough, disturb) {
      const caller = createCaller(url, KEY)
      const start = accepted.size
      let disturbed: Promise<void> | undefined
      const sendMany = async (): Promise<void> => {
        while (accepted.size < start + enough) {
          if (accepted.size >= start + enough / 2) disturbed ??= disturb()
          const answer = await sendOne(caller)
          if (answer === null) return
          if (answer.status !== 200) await retryLater(answer)
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, sendMany))
      await disturbed
    },
    async sendDuring(url, task) {
      const caller = createCaller(url, KEY)
      let over = false
      const sendMany = async (): Promise<void> => {
        while (!over) {
          const pause = new Promise(resolve => setTimeout(resolve, STEADY.everyMs))
          const answer = await sendOne(caller)
          const { status, body } = answer ?? { status: 'no answer', body: {} }
          const failure = `${status} ${body.detail}`
          if (status !== 200) failures[failure] = (failures[failure] ?? 0) + 1
          await pause
        }
      }
      const sending = Array.from({ length: STEADY.callers }, sendMany)
      try {
        await task()
      } finally {
        over = true
        await Promise.all(sending)
      }
    },
    failures: () => failures,
    accepted: () => accepted.size,
    missing,
    waitForAll: () =>
      eventually(() => {
        expect(missing(), 'sends that never arrived').to.equal(0)
      }),
    lastArrivalAfter: since =>
      Math.max(0, ...[...accepted.keys()].map(recipient => (arrivals.get(recipient)?.[0] ?? 0) - since)),
    slowestMs: () => Math.max(0, ...[...accepted].map(([recipient, at]) => (arrivals.get(recipient)?.[0] ?? at) - at)),
    arrivalCounts() {
      const counts: Record<number, number> = {}
      for (const recipient of accepted.keys()) {
        const times = arrivals.get(recipient)?.length ?? 0
        counts[times] = (counts[times] ?? 0) + 1
      }
      return counts
    },
  }
}
