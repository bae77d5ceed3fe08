// Who may call which provider now. One gate per app and provider: a breaker, a pause the vendor asked for, and room for so many
// calls at once, so that one tenant's broken or hanging provider is nobody else's. Live messages only; the sandbox has no gate.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { AttemptResult } from '../../infra/otps/documents.ts'
import type { ProviderType } from '../../infra/tenancy/providers.ts'
import type { Channel } from '../../machines/channels.ts'
import { type Breaker, type BreakerState, breaker } from './breakers.ts'

export interface Called {
  result: AttemptResult
  /** How long the vendor asked to be left alone. */
  retryAfterMs: number | null
}

/** To be used for one call, or left. */
export interface Pass {
  run<T extends Called>(call: () => Promise<T>): Promise<T>
  leave(): void
}

/** `shut`: ask the next provider. `full`: it has its hands full, come back. */
export type Admission = Pass | 'shut' | 'full'

export interface Guarded {
  app_id: string
  name: string
  type: ProviderType
}

export interface Gates {
  enter(provider: Guarded): Admission
  close(): void
}

export interface GateParts {
  channel: Channel
  clock: Pick<Clock, 'now'>
  log: Logger
  metrics: Pick<Metrics, 'breakers' | 'beforeReading'>
}

/** A provider that answers gets more room, as far as it uses it; one that hangs gets less. The most is less than half of what a
 *  channel has in hand at once, so one app cannot have it all. */
const ROOM = { first: 64, most: 200, least: 4 }
/** However long a vendor asks to be left alone, we look again after this. */
const LONGEST_PAUSE_MS = 60_000
/** Breakers remembered. The one not asked for the longest goes first. */
const MOST_GATES = 10_000

interface Gate {
  type: ProviderType
  breaker: Breaker
  room: number
  calls: number
  aloneUntil: number
}

export function gates({ channel, clock, log, metrics }: GateParts): Gates {
  const known = new Map<string, Gate>()

  function gateOf({ app_id, name, type }: Guarded): Gate {
    const key = `${app_id}:${name}`
    const fields = { app_id, channel, provider: name }
    const gate = known.get(key) ?? {
      ...{ type, room: ROOM.first, calls: 0, aloneUntil: 0 },
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

  return {
    enter(provider) {
      const gate = gateOf(provider)
      if (clock.now() < gate.aloneUntil) return 'shut'
      const entry = gate.breaker.enter()
      if (!entry) return 'shut'
      if (gate.calls >= gate.room) {
        entry.giveUp()
        return 'full'
      }
      gate.calls += 1
      return {
        async run(call) {
          try {
            const called = await entry.run(call, ({ result }) => result === 'failed' || result === 'unknown')
            gate.room = roomAfter(called.result, gate)
            const { retryAfterMs } = called
            if (retryAfterMs !== null) gate.aloneUntil = clock.now() + Math.min(retryAfterMs, LONGEST_PAUSE_MS)
            return called
          } finally {
            gate.calls -= 1
          }
        },
        leave() {
          gate.calls -= 1
          entry.giveUp()
        },
      }
    },
    close() {
      for (const { breaker } of known.values()) breaker.shutDown()
      known.clear()
    },
  }
}

function roomAfter(result: AttemptResult, { room, calls }: Gate): number {
  if (result === 'unknown') return Math.max(ROOM.least, Math.floor(room / 2))
  const used = result !== 'failed' && calls * 2 >= room
  return used ? Math.min(ROOM.most, room + 1) : room
}

const STATES: readonly BreakerState[] = ['closed', 'open', 'half_open']
const LEVELS = { open: 'warn', half_open: 'info', closed: 'info' } as const
