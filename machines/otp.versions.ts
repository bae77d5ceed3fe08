// A verification outlives a deploy: what was saved by an older release is brought up to date when it is read, one version at a time.
import type { Otp, OtpStatus, Reply } from './otp.ts'

/** As it lies in the store, beside `rev` and the outbox. */
export interface SavedOtp {
  machine: 'otp'
  version: number
  value: OtpStatus
  context: Otp
  /** The latest commands and what they were told: one that is delivered twice is answered twice and executed once. */
  last_commands: { id: string; reply: Reply }[]
}

/** What an older release saved: the same frame around a context of another shape. */
export type OlderOtp = Omit<SavedOtp, 'context' | 'value'> & { value: string; context: Record<string, unknown> }

/** `migrators[n]` makes version n + 1 of version n. A golden snapshot of every released version is restored in tests. */
export type Migrators = Record<number, (older: OlderOtp) => OlderOtp>

export const OTP_VERSION = 2

export const createMigrate =
  (version: number, migrators: Migrators) =>
  (saved: SavedOtp): SavedOtp => {
    if (saved.version === version) return saved
    if (saved.version > version) throw new Error(`saved by a newer release: otp version ${saved.version}`)
    let older: OlderOtp = { ...saved, context: { ...saved.context } }
    while (older.version < version) {
      const migrate = migrators[older.version]
      if (!migrate) throw new Error(`no way from otp version ${older.version} to ${version}`)
      older = { ...migrate(older), version: older.version + 1 }
    }
    return older as unknown as SavedOtp
  }

const MIGRATORS: Migrators = {
  /** Until then nothing was paid for. */
  1: older => {
    const deliveries = older.context.deliveries as Record<string, unknown>[]
    return { ...older, context: { ...older.context, deliveries: deliveries.map(one => ({ ...one, micros: 0 })) } }
  },
}

export const toCurrentVersion = createMigrate(OTP_VERSION, MIGRATORS)
