// Records when each API key was last used, to the minute. In: every key that was accepted. Out: `last_used_at` in the
// key's document, written at most once a minute: a request costs no write. The write only ever raises the stored time,
// so several processes can write the same key in any order. A process that crashes loses the uses of its last minute.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { createWriteBehind } from '../../infra/write-behind.ts'
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
  metrics?: Pick<Metrics, 'writtenBehind'>
}

const WRITE_INTERVAL_MS = MINUTE_MS
/** The first use after a quiet minute is written soon, so that a person who tries a new key sees it. */
const FIRST_WRITE_DELAY_MS = 1_000
const MAX_REMEMBERED_KEYS = 20_000

export function createKeyUsage({ keys, clock, log, metrics }: KeyUsageDeps): KeyUsage {
  /** The minute that this process wrote last for each key: the cached key may be older. */
  const written = createBoundedMap<number>(MAX_REMEMBERED_KEYS)
  let lastWriteAt = Number.NEGATIVE_INFINITY
  let stopped = false

  const uses = createWriteBehind<{ minute: number }>({
    what: 'last use of keys',
    clock,
    log,
    metrics,
    waitMs() {
      const untilNext = Math.min(lastWriteAt + WRITE_INTERVAL_MS - clock.now(), WRITE_INTERVAL_MS)
      return Math.max(untilNext, FIRST_WRITE_DELAY_MS)
    },
    maxEntries: MAX_REMEMBERED_KEYS,
    merge: (_, newer) => newer,
    async write(entries) {
      lastWriteAt = clock.now()
      for (const [id, { minute }] of entries) written.set(id, minute)
      await keys.update(
        [...groupBy(entries, ([, { minute }]) => minute)].map(([minute, used]) => ({
          ids: used.map(([id]) => id),
          update: { $max: { last_used_at: minute } },
        })),
      )
      entries.clear()
    },
  })

  return {
    record({ _id, last_used_at = 0 }) {
      const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS
      const [unstored] = uses.unstored(_id).slice(-1)
      if (stopped || minute <= last_used_at || minute <= (unstored?.minute ?? written.get(_id) ?? 0)) return
      uses.entry(_id, () => ({ minute })).minute = minute
    },
    async stop() {
      await uses.settled()
      stopped = true
    },
  }
}
