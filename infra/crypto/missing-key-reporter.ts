// Reports keys that are not configured. In: the error. Out: a log line that names the key and the setting, at most one per key in each
// interval, so that it does not flood the log. The sealed text is not lost while the key can be configured again, so the callers
// answer "try later".
import { createBoundedMap } from '../bounded-map.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log/log.ts'
import { MissingKey, UnknownSecret } from './keyring.ts'

/** A text that was tampered with, or sealed for another place, is no such error: no key would unseal it. */
export type MissingKeyError = MissingKey | UnknownSecret

export const isMissingKeyError = (error: unknown): error is MissingKeyError =>
  error instanceof MissingKey || error instanceof UnknownSecret

/** `fields` says in the log where the error was met. */
export type ReportMissingKey = (error: MissingKeyError, fields?: object) => void

/** How long to wait before another try. A missing key comes with a restart of the process. */
export const MISSING_KEY_RETRY_MS = 15_000

const REPORT_INTERVAL_MS = 10_000
const MAX_TRACKED_KEYS = 100

export function createMissingKeyReporter({
  log,
  clock,
}: {
  log: Pick<Logger, 'error'>
  clock: Pick<Clock, 'now'>
}): ReportMissingKey {
  const reported = createBoundedMap<{ at: number; more: number }>(MAX_TRACKED_KEYS)
  return (error, fields = {}) => {
    const setting = error instanceof MissingKey ? 'DATA_KEYS' : 'CODE_SECRETS'
    const { keyId: key_id, message: why } = error
    const name = `${setting}:${key_id}`
    const { at, more } = reported.get(name) ?? { at: Number.NEGATIVE_INFINITY, more: 0 }
    if (clock.now() - at < REPORT_INTERVAL_MS) {
      reported.set(name, { at, more: more + 1 })
      return
    }
    reported.set(name, { at: clock.now(), more: 0 })
    log.error({ setting, key_id, why, ...(more > 0 ? { more } : {}), ...fields }, 'key.missing')
  }
}
