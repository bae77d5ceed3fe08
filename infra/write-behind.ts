// Writes behind what happens: counts and the like, of which a crash may lose the last seconds. In: an entry under a key,
// changed in memory as often as something happens. Out: all entries together, written after a while in the background,
// so that many events cost few writes and none waits for one. What could not be written waits on, together with what
// came meanwhile.
import type { Clock } from './clock.ts'
import type { Logger } from './log/log.ts'
import type { Metrics } from './metrics.ts'
import { createTimer } from './timeout.ts'

export interface WriteBehind<Entry> {
  /** The entry that waits under this key, to be changed before the next await. `make`: where none waits. */
  entry(key: string, make: () => Entry): Entry
  /** What is not stored yet: what is being written, and then what waits. */
  unstored(key: string): Entry[]
  isBeingWritten(key: string): boolean
  /** Resolves when the write that is under way has ended. */
  written(): Promise<void>
  /** Writes what waits. Resolves when it is stored, or the store has failed. */
  settled(): Promise<void>
}

export interface WriteBehindOptions<Entry> {
  /** In the log and in metrics. */
  what: string
  clock: Pick<Clock, 'after'>
  log: Pick<Logger, 'warn'>
  metrics?: Pick<Metrics, 'writtenBehind'> | undefined
  /** How long entries wait before they are written together. */
  waitMs(): number
  /** While the store is away, the oldest entries beyond it are lost. */
  maxEntries: number
  merge(older: Entry, newer: Entry): Entry
  /** Removes from `entries` what is stored: what is left, also where it throws, waits on. */
  write(entries: Map<string, Entry>): Promise<void>
}

const MAX_TRIES_AT_STOP = 5

export function createWriteBehind<Entry>(options: WriteBehindOptions<Entry>): WriteBehind<Entry> {
  const { what, clock, log, metrics, waitMs, maxEntries, merge, write } = options
  let waiting = new Map<string, Entry>()
  let beingWritten = new Map<string, Entry>()
  const timer = createTimer(clock)
  let writing = Promise.resolve()
  let hasFailed = false

  const count = (outcome: 'written' | 'failed' | 'lost', entries: number): void =>
    metrics?.writtenBehind.inc({ what, outcome }, entries)

  function put(key: string, entry: Entry): void {
    waiting.set(key, entry)
    if (waiting.size > maxEntries) {
      waiting.delete(waiting.keys().next().value as string)
      count('lost', 1)
    }
    timer.set(waitMs(), writeNow)
  }

  function writeNow(): void {
    writing = writing.then(writeWaiting)
  }

  async function writeWaiting(): Promise<void> {
    hasFailed = false
    if (waiting.size === 0) return
    ;[beingWritten, waiting] = [waiting, new Map()]
    const { size } = beingWritten
    try {
      await write(beingWritten)
    } catch (error) {
      hasFailed = true
      count('failed', beingWritten.size)
      log.warn({ err: error, what, waiting: beingWritten.size }, 'write_behind.failed')
    }
    count('written', size - beingWritten.size)
    const left = beingWritten
    beingWritten = new Map()
    for (const [key, older] of left) {
      const newer = waiting.get(key)
      put(key, newer === undefined ? older : merge(older, newer))
    }
  }

  return {
    entry(key, make) {
      const found = waiting.get(key)
      if (found !== undefined) return found
      const made = make()
      put(key, made)
      return made
    },
    unstored: key => [beingWritten.get(key), waiting.get(key)].filter(entry => entry !== undefined),
    isBeingWritten: key => beingWritten.has(key),
    written: () => writing,
    async settled() {
      for (let tries = 0; tries < MAX_TRIES_AT_STOP; tries += 1) {
        timer.cancel()
        writeNow()
        await writing
        if (waiting.size === 0 || hasFailed) break
      }
      timer.cancel()
    },
  }
}
