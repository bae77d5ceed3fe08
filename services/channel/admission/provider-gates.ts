// Decides whether a provider may be called now. In: an app's provider. Out: a permit for one call, `shut`, or how long it is busy.
// Each app and provider has its own gate: a circuit breaker, a pause the vendor asked for, and a limit of concurrent calls with a queue,
// which takes its places from a room that all gates share. So one tenant's broken or hanging provider does not slow down other tenants. The
// sandbox has no gate.
import type { Clock } from '../../../infra/clock.ts'
import { createCounts } from '../../../infra/counts.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Channel } from '../../../machines/channels.ts'
import { BREAKER_STATES } from '../../domain/breakers/documents.ts'
import type { ProviderType } from '../../domain/tenancy/provider-types/list.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'
import { type Breaker, createBreaker } from './breaker.ts'
import type { BreakerReports } from './breaker-reports.ts'
import { type Concurrency, createConcurrency, createWaitingRoom } from './concurrency.ts'
import type { Excess } from './excess.ts'

export interface ProviderFeedback {
  result: AttemptResult
  /** How long the vendor asked us not to call; null when it did not. */
  retryAfterMs: number | null
  /** The failure concerns this message only, and does not count against the provider. */
  ignoredByBreaker?: boolean
}

/** Must be run once or released. */
export interface Permit {
  run<T extends ProviderFeedback>(call: () => Promise<T>): Promise<T>
  release(): void
}

/** `shut`: try the next provider. `busyMs`: all calls are in use; a message that comes now would wait about this long. */
export type GateAnswer = Permit | 'shut' | { busyMs: number }

export interface ProviderKey {
  company_id: string
  app_id: string
  name: string
  type: ProviderType
}

export interface ProviderGates {
  /** The shortest time that a message would wait now, when all of the providers that are not shut are busy; null when one has a free slot
   *  or place to wait, or all are shut. */
  busyMs(providers: readonly ProviderKey[]): number | null
  /** For a message whose providers are all busy: true once one may be free, false when the message is to be given back to the broker. */
  hold(providers: readonly ProviderKey[], since: number): Promise<boolean>
  /** Counts a message at the provider which it is likely to call, the first that is not busy, until the returned function is called: before
   *  it asks for a permit. So of many messages that come at once to an app with one provider, only those are read that will be sent. */
  reserve(providers: readonly ProviderKey[]): () => void
  /** May wait in the provider's queue for up to five seconds. */
  admit(provider: ProviderKey): Promise<GateAnswer>
  /** The provider's setup has changed, so what was learned about it no longer holds: its next call gets a new gate. */
  forget(app_id: string, name: string): void
  /** No call begins from now on, until `resume`: every provider is busy, also for messages that wait. */
  pause(): void
  resume(): void
  close(): void
}

export interface ProviderGatesDeps {
  channel: Channel
  /** The most calls under way at one provider of an app. */
  maxCalls: number
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'breakers' | 'beforeScrape'>
  /** Shows operators the state of each breaker. */
  breakerReports: Pick<BreakerReports, 'report' | 'forget'>
  excess: Excess
}

/** A pause that a vendor asks for is cut to this. */
const MAX_PAUSE_MS = 60_000
/** A gate takes 13 KB. The gate that was not used for the longest time is dropped first. */
const MAX_GATES = 2_000
const MIN_CALLS_PER_COMPANY = 250
/** Concurrent calls of one company over all its apps and providers. More than one provider's limit, so that messages for a single provider
 *  wait in its queue before the company's limit refuses them. A small limit of providers does not lower it: a few tenants whose providers
 *  hang would hold all messages of the channel. */
const maxCallsPerCompany = (maxCalls: number): number => Math.max(MIN_CALLS_PER_COMPANY, Math.ceil(maxCalls * 1.25))
/** How many messages of all companies wait for a slot. Those of a company that got their slots while it was at its limit come from these
 *  places, so that a company never holds more than the two numbers together. */
const waitingPlaces = maxCallsPerCompany
/** How many messages a channel takes from its queue. However many wait, and however many calls one company has under way, a third of them
 *  is left for others. */
export const prefetchFor = (maxCalls: number): number => waitingPlaces(maxCalls) + 2 * maxCallsPerCompany(maxCalls)

interface Gate {
  app_id: string
  name: string
  type: ProviderType
  breaker: Breaker
  concurrency: Concurrency
  pausedUntil: number
}

export function createProviderGates({
  channel,
  maxCalls,
  clock,
  log,
  metrics,
  breakerReports,
  excess,
}: ProviderGatesDeps): ProviderGates {
  const mostOfCompany = maxCallsPerCompany(maxCalls)
  const room = createWaitingRoom(waitingPlaces(maxCalls))
  const gatesByProvider = new Map<string, Gate>()
  const callsByCompany = createCounts()
  /** The metric of a type whose last gate was dropped becomes 0. */
  const knownTypes = new Set<ProviderType>()
  let isPausedByHost = false

  function createGate({ app_id, name, type }: ProviderKey): Gate {
    const breaker = createBreaker({
      clock,
      onChange(state) {
        log[LOG_LEVELS[state]]({ app_id, channel, provider: name, state }, 'breaker.changed')
        breakerReports.report(app_id, name, state)
      },
    })
    breakerReports.report(app_id, name, breaker.state())
    return { app_id, name, type, breaker, concurrency: createConcurrency({ clock, maxCalls, room }), pausedUntil: 0 }
  }

  function gateOf(provider: ProviderKey): Gate {
    const key = gateKey(provider.app_id, provider.name)
    const gate = gatesByProvider.get(key) ?? createGate(provider)
    knownTypes.add(provider.type)
    gatesByProvider.delete(key)
    gatesByProvider.set(key, gate)
    if (gatesByProvider.size > MAX_GATES) dropGate(gatesByProvider.keys().next().value as string)
    return gate
  }

  function dropGate(key: string): void {
    const gate = gatesByProvider.get(key)
    if (!gate) return
    gate.breaker.shutDown()
    gatesByProvider.delete(key)
    breakerReports.forget(gate.app_id, gate.name)
  }

  metrics.beforeScrape(() => {
    const breakers = createCounts()
    for (const { type, breaker } of gatesByProvider.values()) breakers.add(`${type} ${breaker.state()}`, 1)
    for (const type of knownTypes)
      for (const state of BREAKER_STATES)
        metrics.breakers.set({ channel, provider: type, state }, breakers.of(`${type} ${state}`))
  })

  const isPaused = ({ pausedUntil }: Gate): boolean => clock.now() < pausedUntil
  const isShut = (gate: Gate): boolean => isPaused(gate) || gate.breaker.isShut()

  /** Asks the breaker again: it may have opened while the caller waited for a slot. */
  function grantPermit(gate: Gate, release: (result: AttemptResult | null) => void): GateAnswer {
    const entry = isPaused(gate) ? null : gate.breaker.enter()
    if (!entry) {
      release(null)
      return 'shut'
    }
    return {
      async run(call) {
        let result: AttemptResult | null = null
        try {
          const called = await entry.run(
            call,
            one => (one.result === 'failed' && !one.ignoredByBreaker) || one.result === 'unknown',
          )
          result = called.result
          const { retryAfterMs } = called
          if (retryAfterMs !== null) gate.pausedUntil = clock.now() + Math.min(retryAfterMs, MAX_PAUSE_MS)
          return called
        } finally {
          release(result)
        }
      },
      release() {
        release(null)
        entry.cancel()
      },
    }
  }

  const isCompanyAtLimit = (company_id: string): boolean => callsByCompany.of(company_id) >= mostOfCompany

  function busyMs(providers: readonly ProviderKey[]): number | null {
    if (isPausedByHost && providers.length > 0) return 0
    const waitMsOfOpen = providers.flatMap(({ company_id, app_id, name }) => {
      const gate = gatesByProvider.get(gateKey(app_id, name))
      if (!gate) return [null]
      if (isShut(gate)) return []
      return [gate.concurrency.isBusy() || isCompanyAtLimit(company_id) ? gate.concurrency.waitMs() : null]
    })
    return waitMsOfOpen.reduce<number | null>(
      (least, ms) => (least === null || ms === null ? null : Math.min(least, ms)),
      waitMsOfOpen[0] ?? null,
    )
  }

  return {
    busyMs,
    hold: async (providers, since) => {
      const [first] = providers
      return first !== undefined && excess.hold(first.app_id, () => busyMs(providers) !== null, since)
    },
    reserve(providers) {
      for (const { app_id, name } of providers) {
        const gate = gatesByProvider.get(gateKey(app_id, name))
        if (!gate || isShut(gate) || gate.concurrency.isBusy()) continue
        const leave = gate.concurrency.reserve()
        // Another message that is held may have a slot too.
        excess.wake()
        return () => {
          leave()
          excess.wake()
        }
      }
      return () => {}
    },
    async admit(provider) {
      if (isPausedByHost) return { busyMs: 0 }
      const gate = gateOf(provider)
      // Before the queue: a slot of a shut provider is of no use.
      if (isShut(gate)) return 'shut'
      const { company_id } = provider
      const release = isCompanyAtLimit(company_id) ? null : await gate.concurrency.acquire()
      if (release === null) return { busyMs: isPausedByHost ? 0 : gate.concurrency.waitMs() }
      callsByCompany.add(company_id, 1)
      return grantPermit(gate, result => {
        callsByCompany.add(company_id, -1)
        release(result)
        excess.wake()
      })
    },
    forget: (app_id, name) => dropGate(gateKey(app_id, name)),
    pause() {
      isPausedByHost = true
      room.close()
      excess.close()
    },
    resume() {
      isPausedByHost = false
      room.open()
      excess.open()
    },
    close() {
      excess.close()
      for (const { breaker } of gatesByProvider.values()) breaker.shutDown()
      gatesByProvider.clear()
    },
  }
}

const gateKey = (app_id: string, name: string): string => `${app_id}:${name}`

const LOG_LEVELS = { open: 'warn', half_open: 'info', closed: 'info' } as const
