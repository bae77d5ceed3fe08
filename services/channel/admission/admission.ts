// Who may call which provider now. One gate per app and provider: a breaker, a pause the vendor asked for, and room for so many
// calls at once, with a line before it that is only as long as it is quick, so that one tenant's broken or hanging provider is nobody
// else's. Live messages only; the sandbox has no gate.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { ProviderType } from '../../domain/tenancy/providers.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts'
import { type Concurrency, createConcurrency } from './concurrency.ts'

export interface CallFeedback {
  result: AttemptResult
  /** How long the vendor asked to be left alone. */
  retryAfterMs: number | null
  /** It failed, and says nothing of how the provider is. */
  ignoredByBreaker?: boolean
}

/** To be used for one call, or left. */
export interface Permit {
  run<T extends CallFeedback>(call: () => Promise<T>): Promise<T>
  release(): void
}

/** `shut`: ask the next provider. Otherwise it has its hands full, and is to be asked again after a while. */
export type AdmissionResult = Permit | 'shut' | { fullForMs: number }

export interface ProviderKey {
  company_id: string
  app_id: string
  name: string
  type: ProviderType
}

export interface Admission {
  /** How busy all of these are that may be called at all, in the time a call takes; null when one has room or none may be called. */
  busyMs(providers: readonly ProviderKey[]): number | null
  /** Maybe after a moment in the line. */
  admit(provider: ProviderKey): Promise<AdmissionResult>
  close(): void
}

export interface GateDeps {
  channel: Channel
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'breakers' | 'beforeScrape'>
}

/** However long a vendor asks to be left alone, we look again after this. */
const MAX_PAUSE_MS = 60_000
/** Gates remembered, at 13 KB each. The one not asked for the longest goes first. */
const MAX_GATES = 2_000
/** Calls of one company at once, however many apps and providers it has: half of what a channel has in hand. More than one provider
 *  has room for, so that before a single one there is a line. */
const MAX_CALLS_PER_COMPANY = 250

interface Gate {
  type: ProviderType
  breaker: Breaker
  concurrency: Concurrency
  pausedUntil: number
}

export function createAdmission({ channel, clock, log, metrics }: GateDeps): Admission {
  const gatesByProvider = new Map<string, Gate>()
  /** Calls under way, by company. */
  const callsByCompany = new Map<string, number>()

  function count(company_id: string, change: 1 | -1): void {
    const now = (callsByCompany.get(company_id) ?? 0) + change
    if (now === 0) callsByCompany.delete(company_id)
    else callsByCompany.set(company_id, now)
  }

  function gateOf({ app_id, name, type }: ProviderKey): Gate {
    const key = `${app_id}:${name}`
    const fields = { app_id, channel, provider: name }
    const gate = gatesByProvider.get(key) ?? {
      type,
      concurrency: createConcurrency(clock),
      pausedUntil: 0,
      breaker: createBreaker({
        clock,
        onChange: state => log[LOG_LEVELS[state]]({ ...fields, state }, 'breaker.changed'),
      }),
    }
    gatesByProvider.delete(key)
    gatesByProvider.set(key, gate)
    if (gatesByProvider.size > MAX_GATES) forgetOldest()
    return gate
  }

  function forgetOldest(): void {
    const [key, gate] = gatesByProvider.entries().next().value as [string, Gate]
    gate.breaker.shutDown()
    gatesByProvider.delete(key)
  }

  metrics.beforeScrape(() => {
    const count = new Map<string, number>()
    for (const { type, breaker } of gatesByProvider.values()) {
      const labels = `${type} ${breaker.state()}`
      count.set(labels, (count.get(labels) ?? 0) + 1)
    }
    for (const type of new Set([...gatesByProvider.values()].map(gate => gate.type)))
      for (const state of STATES)
        metrics.breakers.set({ channel, provider: type, state }, count.get(`${type} ${state}`) ?? 0)
  })

  const isPaused = ({ pausedUntil }: Gate): boolean => clock.now() < pausedUntil

  /** There is a place for it; whether it may be used is the breaker's to say, which may have opened meanwhile. */
  function grantPermit(gate: Gate, release: (result: AttemptResult | null) => void): AdmissionResult {
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

  const isCompanyAtLimit = (company_id: string): boolean =>
    (callsByCompany.get(company_id) ?? 0) >= MAX_CALLS_PER_COMPANY

  return {
    busyMs(providers) {
      const open = providers.flatMap(({ company_id, app_id, name }) => {
        const gate = gatesByProvider.get(`${app_id}:${name}`)
        if (!gate) return [null]
        if (isPaused(gate) || gate.breaker.isShut()) return []
        return [gate.concurrency.isBusy() || isCompanyAtLimit(company_id) ? gate.concurrency.callMs() : null]
      })
      return open.reduce<number | null>(
        (least, ms) => (least === null || ms === null ? null : Math.min(least, ms)),
        open[0] ?? null,
      )
    },
    async admit(provider) {
      const gate = gateOf(provider)
      // Nobody waits for a place that cannot be used.
      if (isPaused(gate) || gate.breaker.isShut()) return 'shut'
      const { company_id } = provider
      const release = isCompanyAtLimit(company_id) ? null : await gate.concurrency.acquire()
      if (release === null) return { fullForMs: gate.concurrency.callMs() }
      count(company_id, 1)
      return grantPermit(gate, result => {
        count(company_id, -1)
        release(result)
      })
    },
    close() {
      for (const { breaker } of gatesByProvider.values()) breaker.shutDown()
      gatesByProvider.clear()
    },
  }
}

const STATES: readonly BreakerState[] = ['closed', 'open', 'half_open']
const LOG_LEVELS = { open: 'warn', half_open: 'info', closed: 'info' } as const
