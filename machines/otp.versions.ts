// A verification outlives a deploy. In: a verification as any release saved it. Out: the same in the shape of this release. It is
// migrated when it is read, one version at a time; the next write saves it in the current shape.
import type { Otp, Reply, SavedStatus } from './otp.ts'

/** The part of a verification's stored document that belongs to the machine. */
export interface SavedOtp {
  machine: 'otp' | 'message'
  version: number
  value: SavedStatus
  context: Otp
  /** The latest commands and their replies: a command that is delivered twice gets its reply twice and is executed once. */
  last_commands: RememberedCommand[]
}

export interface RememberedCommand {
  id: string
  reply: Reply
}

/** What an older release saved: the same members, but a context of another shape. Not all readers read all of it. */
export type OlderOtp = Omit<SavedOtp, 'context' | 'value' | 'last_commands'> & {
  value: string
  context: Record<string, unknown>
}

/** `migrators[n]` turns version n into version n + 1. */
export type Migrators = Record<number, (older: OlderOtp) => OlderOtp>

/** Raise it when a release changes the shape of `Otp`, and add a migrator. */
export const OTP_VERSION = 1

/** Empty, because version 1 is the first one. */
const MIGRATORS: Migrators = {}

export const createMigrate =
  (version: number, migrators: Migrators) =>
  <Saved extends Pick<SavedOtp, 'version'> & { context: object }>(saved: Saved): Saved => {
    if (saved.version === version) return saved
    if (saved.version > version) throw new Error(`saved by a newer release: otp version ${saved.version}`)
    let older = { ...saved, context: { ...saved.context } } as unknown as OlderOtp
    while (older.version < version) {
      const migrate = migrators[older.version]
      if (!migrate) throw new Error(`no migrator from otp version ${older.version} to ${version}`)
      older = { ...migrate(older), version: older.version + 1 }
    }
    return older as unknown as Saved
  }

export const toCurrentVersion = createMigrate(OTP_VERSION, MIGRATORS)
