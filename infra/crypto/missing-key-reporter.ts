// What does not open because its key is not configured. In: what was thrown. Out: one line in the log that names the key and the setting
// it is missing from, once in a while for each key: an operator must see it, not drown in it. Nothing is lost by it as long as the
// key can be put back, so whoever needed it answers "later".
import type { Clock } from '../clock.ts'
import type { Logger } from '../log/log.ts'
import { MissingKey, UnknownSecret } from './keyring.ts'

/** What was tampered with, or sealed for another place, is none: no key would open it. */
export type MissingKeyError = MissingKey | UnknownSecret

export const isMissingKeyError = (error: unknown): error is MissingKeyError =>
  error instanceof MissingKey || error instanceof UnknownSecret

/** `fields`: where it was met. */
export type ReportMissingKey = (error: MissingKeyError, fields?: object) => void

/** When it is worth asking again: a key comes with a restart. */
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
  const reported = new Map<string, { at: number; more: number }>()
  return (error, fields = {}) => {
    const setting = error instanceof MissingKey ? 'DATA_KEYS' : 'CODE_SECRETS'
    const { keyId: key_id, message: why } = error
    const name = `${setting}:${key_id}`
    const { at, more } = reported.get(name) ?? { at: Number.NEGATIVE_INFINITY, more: 0 }
    if (clock.now() - at < REPORT_INTERVAL_MS) {
      reported.set(name, { at, more: more + 1 })
      return
    }
    if (reported.size >= MAX_TRACKED_KEYS) reported.clear()
    reported.set(name, { at: clock.now(), more: 0 })
    log.error({ setting, key_id, why, ...(more > 0 ? { more } : {}), ...fields }, 'key.missing')
  }
}
