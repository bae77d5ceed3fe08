// Says what this process has in hand (services/domain/backlog/documents.ts). In: calls that begin and end, and apps
// whose providers are busy. Out: one document, written once a second while there is something to say. Nothing is
// written per message, and no message waits for it.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { createTimer } from '../../infra/timeout.ts'
import type { Channel } from '../../machines/channels.ts'
import type { ChannelLoadDoc } from '../domain/backlog/documents.ts'

export interface LoadReports {
  /** A provider is about to be called for this verification. The returned function is called once the result is reported. */
  beginCall(otp_id: string): () => void
  /** A message of this app waits here, or was given back to the broker, because the app's providers are busy. */
  markBusy(app_id: string): void
  /** Nothing is in hand any more. What was given back to the broker still goes round, so that its apps stay busy for a minute. */
  stop(): Promise<void>
}

export interface LoadReportDeps {
  channel: Channel
  loads: Pick<Docs<ChannelLoadDoc>, 'modify' | 'remove'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

const WRITE_EVERY_MS = 1_000
/** So that several writes in a row may fail. */
const VALID_MS = 10_000
/** A message that was given back comes again within this time. */
const BUSY_FOR_MS = MINUTE_MS

export function createLoadReports({ channel, loads, clock, log }: LoadReportDeps): LoadReports {
  const _id = `${channel}:${randomUUID()}`
  const inHand = new Set<string>()
  const busyUntil = new Map<string, number>()
  const timer = createTimer(clock)
  let writing: Promise<void> = Promise.resolve()
  let isWritten = false
  let stopped = false

  const writeSoon = (): void => {
    if (!stopped) timer.set(WRITE_EVERY_MS, () => (writing = write()))
  }

  async function write(): Promise<void> {
    const now = clock.now()
    for (const [app_id, until] of busyUntil) if (until <= now) busyUntil.delete(app_id)
    const isIdle = inHand.size === 0 && busyUntil.size === 0
    if (isIdle && !isWritten) return
    try {
      if (isIdle) await remove()
      else await say([...inHand], now + VALID_MS)
    } catch (error) {
      log.warn({ err: error, channel }, 'channel_load.not_reported')
    }
    if (isWritten) writeSoon()
  }

  async function say(in_hand: string[], valid_until: number): Promise<void> {
    isWritten = true
    const said = { channel, in_hand, busy_apps: [...busyUntil.keys()] }
    await loads.modify({ _id }, { $set: { ...said, valid_until, purge_at: new Date(valid_until) } }, { upsert: true })
  }

  async function remove(): Promise<void> {
    await loads.remove({ _id }, 1)
    isWritten = false
  }

  return {
    beginCall(otp_id) {
      inHand.add(otp_id)
      writeSoon()
      return () => void inHand.delete(otp_id)
    },
    markBusy(app_id) {
      busyUntil.set(app_id, clock.now() + BUSY_FOR_MS)
      writeSoon()
    },
    async stop() {
      stopped = true
      timer.cancel()
      await writing
      const busyFor = Math.max(0, ...busyUntil.values())
      try {
        if (busyFor > clock.now()) await say([], busyFor)
        else if (isWritten) await remove()
      } catch (error) {
        log.warn({ err: error, channel }, 'channel_load.not_reported')
      }
    },
  }
}
