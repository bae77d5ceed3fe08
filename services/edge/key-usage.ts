// Records when each API key was last used, to the minute. In: every key that was accepted. Out: `last_used_at` in the key's document.
// Uses are kept in memory and written together, at most once a minute: a request costs no write. The write only ever raises the stored
// time, so several processes can write the same key in any order. A process that crashes loses the uses of its last minute.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { createTimer } from '../../infra/timeout.ts'
import { groupBy } from '../../machines/group-by.ts'
import type { ApiKey } from '../domain/tenancy/documents.ts'

export interface KeyUsage {
  record(key: Pick<ApiKey, '_id' | 'last_used_at'>): void
  /** Writes what is not written yet. */
  stop(): Promise<void>
}

export interface KeyUsageDeps {
  keys: Pick<Docs<ApiKey>, 'update'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

const WRITE_INTERVAL_MS = MINUTE_MS
/** The first use after a quiet minute is written soon, so that a person who tries a new key sees it. */
const FIRST_WRITE_DELAY_MS = 1_000
const MAX_REMEMBERED_KEYS = 20_000

export function createKeyUsage({ keys, clock, log }: KeyUsageDeps): KeyUsage {
  /** The minute that is to be written for each key. */
  let unwritten = new Map<string, number>()
  /** The minute that this process wrote last for each key: the cached key may be older. */
  const written = createBoundedMap<number>(MAX_REMEMBERED_KEYS)
  let lastWriteAt = Number.NEGATIVE_INFINITY
  const timer = createTimer(clock)
  let writing: Promise<void> = Promise.resolve()
  let stopped = false

  function schedule(): void {
    if (stopped) return
    const untilNext = Math.min(lastWriteAt + WRITE_INTERVAL_MS - clock.now(), WRITE_INTERVAL_MS)
    const delay = Math.max(untilNext, FIRST_WRITE_DELAY_MS)
    timer.set(delay, () => {
      writing = write()
    })
  }

  async function write(): Promise<void> {
    const minutes = unwritten
    unwritten = new Map()
    lastWriteAt = clock.now()
    if (minutes.size === 0) return
    for (const [id, minute] of minutes) written.set(id, minute)
    try {
      await keys.update(
        [...groupBy(minutes, ([, minute]) => minute)].map(([minute, uses]) => ({
          ids: uses.map(([id]) => id),
          update: { $max: { last_used_at: minute } },
        })),
      )
    } catch (error) {
      log.warn({ err: error, count: minutes.size }, 'key_usage.not_written')
      // A use that was recorded meanwhile is later.
      for (const [id, minute] of minutes) if (!unwritten.has(id)) unwritten.set(id, minute)
      schedule()
    }
  }

  return {
    record({ _id, last_used_at = 0 }) {
      const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS
      if (minute <= last_used_at || minute <= (unwritten.get(_id) ?? written.get(_id) ?? 0)) return
      unwritten.set(_id, minute)
      schedule()
    },
    async stop() {
      stopped = true
      timer.cancel()
      await writing
      await write()
    },
  }
}
