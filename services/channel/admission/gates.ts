// Who may call which provider now. One gate per app and provider: a breaker, a pause the vendor asked for, and room for so many
// calls at once, with a line before it that is only as long as it is quick, so that one tenant's broken or hanging provider is nobody
// else's. Live messages only; the sandbox has no gate.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { ProviderType } from '../../domain/tenancy/providers.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'
import { type Breaker, type BreakerState, breaker } from './breakers.ts'
import { type Room, room } from './room.ts'

export interface Called {
  result: AttemptResult
  /** How long the vendor asked to be left alone. */
  retryAfterMs: number | null
  /** It failed, and says nothing of how the provider is. */
  excused?: boolean
}

/** To be used for one call, or left. */
export interface Pass {
  run<T extends Called>(call: () => Promise<T>): Promise<T>
  leave(): void
}

/** `shut`: ask the next provider. Otherwise it has its hands full, and is to be asked again after a while. */
export type Admission = Pass | 'shut' | { fullForMs: number }

export interface Guarded {
  company_id: string
  app_id: string
  name: string
  type: ProviderType
}

export interface Gates {
  /** How busy all of these are that may be called at all, in the time a call takes; null when one has room or none may be called. */
  crowdedMs(providers: readonly Guarded[]): number | null
  /** Maybe after a moment in the line. */
  enter(provider: Guarded): Promise<Admission>
  close(): void
}

export interface GateParts {
  channel: Channel
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'breakers' | 'beforeReading'>
}

/** However long a vendor asks to be left alone, we look again after this. */
const LONGEST_PAUSE_MS = 60_000
/** Gates remembered, at 13 KB each. The one not asked for the longest goes first. */
const MOST_GATES = 2_000
/** Calls of one company at once, however many apps and providers it has: half of what a channel has in hand. More than one provider
 *  has room for, so that before a single one there is a line. */
const MOST_OF_ONE = 250

interface Gate {
  type: ProviderType
  breaker: Breaker
  room: Room
  aloneUntil: number
}

export function gates({ channel, clock, log, metrics }: GateParts): Gates {
  const known = new Map<string, Gate>()
  /** Calls under way, by company. */
  const calls = new Map<string, number>()

  function count(company_id: string, more: 1 | -1): void {
    const now = (calls.get(company_id) ?? 0) + more
    if (now === 0) calls.delete(company_id)
    else calls.set(company_id, now)
  }

  function gateOf({ app_id, name, type }: Guarded): Gate {
    const key = `${app_id}:${name}`
    const fields = { app_id, channel, provider: name }
    const gate = known.get(key) ?? {
      ...{ type, room: room(clock), aloneUntil: 0 },
      breaker: breaker({ clock, changed: state => log[LEVELS[state]]({ ...fields, state }, 'breaker.changed') }),
    }
    known.delete(key)
    known.set(key, gate)
    if (known.size > MOST_GATES) forgetOldest()
    return gate
  }

  function forgetOldest(): void {
    const [key, gate] = known.entries().next().value as [string, Gate]
    gate.breaker.shutDown()
    known.delete(key)
  }

  metrics.beforeReading(() => {
    const count = new Map<string, number>()
    for (const { type, breaker } of known.values()) {
      const labels = `${type} ${breaker.state()}`
      count.set(labels, (count.get(labels) ?? 0) + 1)
    }
    for (const type of new Set([...known.values()].map(gate => gate.type)))
      for (const state of STATES)
        metrics.breakers.set({ channel, provider: type, state }, count.get(`${type} ${state}`) ?? 0)
  })

  const isAlone = ({ aloneUntil }: Gate): boolean => clock.now() < aloneUntil

  /** There is a place for it; whether it may be used is the breaker's to say, which may have opened meanwhile. */
  function admitted(gate: Gate, leave: (result: AttemptResult | null) => void): Admission {
    const entry = isAlone(gate) ? null : gate.breaker.enter()
    if (!entry) {
      leave(null)
      return 'shut'
    }
    return {
      async run(call) {
        let result: AttemptResult | null = null
        try {
          const called = await entry.run(
            call,
            one => (one.result === 'failed' && !one.excused) || one.result === 'unknown',
          )
          result = called.result
          const { retryAfterMs } = called
          if (retryAfterMs !== null) gate.aloneUntil = clock.now() + Math.min(retryAfterMs, LONGEST_PAUSE_MS)
          return called
        } finally {
          leave(result)
        }
      },
      leave() {
        leave(null)
        entry.giveUp()
      },
    }
  }

  const isFull = (company_id: string): boolean => (calls.get(company_id) ?? 0) >= MOST_OF_ONE

  return {
    crowdedMs(providers) {
      const open = providers.flatMap(({ company_id, app_id, name }) => {
        const gate = known.get(`${app_id}:${name}`)
        if (!gate) return [null]
        if (isAlone(gate) || gate.breaker.isShut()) return []
        return [gate.room.isCrowded() || isFull(company_id) ? gate.room.callMs() : null]
      })
      return open.reduce<number | null>(
        (least, ms) => (least === null || ms === null ? null : Math.min(least, ms)),
        open[0] ?? null,
      )
    },
    async enter(provider) {
      const gate = gateOf(provider)
      // Nobody waits for a place that cannot be used.
      if (isAlone(gate) || gate.breaker.isShut()) return 'shut'
      const { company_id } = provider
      const leave = isFull(company_id) ? null : await gate.room.take()
      if (leave === null) return { fullForMs: gate.room.callMs() }
      count(company_id, 1)
      return admitted(gate, result => {
        count(company_id, -1)
        leave(result)
      })
    },
    close() {
      for (const { breaker } of known.values()) breaker.shutDown()
      known.clear()
    },
  }
}

const STATES: readonly BreakerState[] = ['closed', 'open', 'half_open']
const LEVELS = { open: 'warn', half_open: 'info', closed: 'info' } as const
