// The messages that die in this process, or on which a handler threw. In: each of them, from an adapter. Out: a line in the log and, for a
// death, a call of each listener. A handler with a bug can kill thousands of messages in a second, so the lines of each queue are limited;
// those left out are counted.
import type { Clock } from '../clock.ts'
import { requestOf } from '../trace.ts'
import type { Death } from './broker.ts'

export interface DeathLog {
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
}

export interface Deaths {
  /** `error` is what the handler threw. */
  record(death: Death, error?: unknown): void
  /** The handler threw, and the message is tried again after `afterMs`. */
  recordThrow(thrown: Pick<Death, 'queue' | 'id' | 'attempt' | 'trace'>, afterMs: number, error: unknown): void
  listen(listener: (death: Death) => void): void
  /** Writes what is still to be said. */
  close(): void
}

const MAX_LINES = 20
const WINDOW_MS = 10_000

interface Window {
  lines: number
  leftOut: number
  cancelTimer(): void
}

export function createDeaths({ clock, log }: { clock: Clock; log?: DeathLog | undefined }): Deaths {
  const listeners: ((death: Death) => void)[] = []
  const windows = new Map<string, Window>()

  function endWindow(queue: string): void {
    const window = windows.get(queue)
    windows.delete(queue)
    window?.cancelTimer()
    if (window && window.leftOut > 0) log?.warn({ queue, count: window.leftOut }, 'messages.dead_not_logged')
  }

  function mayWriteLine(queue: string): boolean {
    const window = windows.get(queue)
    if (!window) {
      windows.set(queue, { lines: 1, leftOut: 0, cancelTimer: clock.after(WINDOW_MS, () => endWindow(queue)) })
      return true
    }
    if (window.lines === MAX_LINES) {
      window.leftOut += 1
      return false
    }
    window.lines += 1
    return true
  }

  function write({ queue, id, attempt, reason, cause, trace }: Death, error: unknown): void {
    const fields = { queue, id, attempts: attempt, reason, cause, ...requestOf({ trace }) }
    if (cause === 'threw') log?.error({ ...fields, err: error }, 'message.dead')
    else log?.warn(fields, 'message.dead')
  }

  return {
    record(death, error) {
      for (const listener of listeners) listener(death)
      if (mayWriteLine(death.queue)) write(death, error)
    },
    recordThrow({ queue, id, attempt, trace }, afterMs, error) {
      const fields = { queue, id, attempts: attempt, retry_after_ms: afterMs, ...requestOf({ trace }) }
      if (mayWriteLine(queue)) log?.error({ ...fields, err: error }, 'message.threw')
    },
    listen: listener => void listeners.push(listener),
    close() {
      for (const queue of [...windows.keys()]) endWindow(queue)
    },
  }
}
