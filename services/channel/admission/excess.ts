// What becomes of messages whose app has no free provider. In: such a message. Out: whether it is to be looked at again
// here, or goes back to the broker. While no other app has a message in the channel, messages that are held here keep
// no other waiting: the process takes no more, and what waits is in the channel's own queue, where it can be seen. As
// soon as a delivery of another app waits, which the store tells, all are given back and go round through the wait
// queues, so that the process reads on to that delivery.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { createTimer } from '../../../infra/timeout.ts'
import type { Channel } from '../../../machines/channels.ts'
import { owedOn } from '../../domain/backlog/backlog.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'

export interface Excess {
  /** True once a provider of the app may be free; false when the message is to be given back. `since`: when it was published. */
  hold(app_id: string, isBusy: () => boolean, since: number): Promise<boolean>
  /** A provider may have a free slot now. */
  wake(): void
  /** All are given back, and none is held until `open`. */
  close(): void
  open(): void
}

export interface ExcessDeps {
  channel: Channel
  otps: Pick<Docs<OtpDoc>, 'find' | 'get'>
  clock: Clock
  log: Pick<Logger, 'warn'>
  /** Called once a second for an app whose messages are held. */
  onHeld(app_id: string): void
}

/** How often the store is asked for deliveries of other apps. */
const LOOK_EVERY_MS = 1_000
/** A delivery is saved some time after the time that it carries. */
const SAVED_LATE_MS = 2_000
/** A message may be taken this much before an older one. */
const OVERTAKING_MS = 10_000
const PAGE = 1_000
/** More than that are not read at once: then others may wait, for all that is known. */
const MOST_PAGES = 10
/** So many of other apps' latest deliveries are remembered. */
const MOST_OTHERS = 100
/** RabbitMQ takes a message back after half an hour. */
const MAX_HOLD_MS = 5 * MINUTE_MS

interface Held {
  app_id: string
  isBusy(): boolean
  end(again: boolean): void
}

export function createExcess({ channel, otps, clock, log, onHeld }: ExcessDeps): Excess {
  const held = new Set<Held>()
  const timer = createTimer(clock)
  let isOpen = true
  /** The app that the last look was for, and what it found: verifications of others with a delivery that waits. */
  let soleApp: string | null = null
  let others: string[] = []
  let lookedUntil = 0
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null

  function giveAllBack(): void {
    for (const one of [...held]) one.end(false)
  }

  /** Never fails: where the store does not answer, others may wait. */
  async function look(app_id: string, since: number): Promise<void> {
    const now = clock.now()
    // What is older than a message that was taken has been taken too.
    if (soleApp !== app_id || now - lookedAt > 2 * LOOK_EVERY_MS) lookedUntil = since - OVERTAKING_MS
    if (soleApp !== app_id) others = []
    soleApp = app_id
    lookedAt = now
    try {
      others = [...(await stillWaiting(now)), ...(await findOthers(app_id, now))].slice(-MOST_OTHERS)
    } catch (error) {
      log.warn({ err: error, channel }, 'excess.not_judged')
      others = [UNKNOWN]
    }
    if (others.length > 0) giveAllBack()
  }

  async function stillWaiting(now: number): Promise<string[]> {
    const found = await otps.get(others)
    return others.filter(id => {
      const { owed_at = 0, owed_channel } = found.get(id) ?? {}
      return owed_channel === channel && owed_at > 0 && owed_at <= now
    })
  }

  async function findOthers(app_id: string, now: number): Promise<string[]> {
    const found: string[] = []
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const owed = await otps.find(owedOn(channel, lookedUntil, now), {
        sort: { owed_at: 1 },
        limit: PAGE,
        only: ['app_id', 'mode', 'owed_at'],
      })
      found.push(...owed.filter(one => one.app_id !== app_id || one.mode !== 'live').map(({ _id }) => _id))
      if (owed.length < PAGE) {
        lookedUntil = Math.max(lookedUntil, now - SAVED_LATE_MS)
        return found
      }
      lookedUntil = Math.max(lookedUntil, (owed.at(-1)?.owed_at ?? 0) - 1)
    }
    return [...found, UNKNOWN]
  }

  function lookOnce(app_id: string, since: number): Promise<void> {
    looking ??= look(app_id, since).finally(() => {
      looking = null
    })
    return looking
  }

  function lookAgain(): void {
    const [first] = held
    if (!first) return
    onHeld(first.app_id)
    wake()
    void lookOnce(first.app_id, lookedUntil)
    timer.set(LOOK_EVERY_MS, lookAgain)
  }

  /** One at a time: a message that is woken takes the slot, and then wakes the next. */
  function wake(): void {
    const [first] = held
    if (first && !first.isBusy()) first.end(true)
  }

  return {
    async hold(app_id, isBusy, since) {
      if (!isOpen) return false
      if (clock.now() - lookedAt >= LOOK_EVERY_MS) await lookOnce(app_id, since)
      if (!isOpen || soleApp !== app_id || others.length > 0) return false
      if (!isBusy()) return true
      return new Promise(resolve => {
        const one: Held = {
          app_id,
          isBusy,
          end(again) {
            held.delete(one)
            cancel()
            resolve(again)
          },
        }
        const cancel = clock.after(MAX_HOLD_MS, () => one.end(false))
        held.add(one)
        timer.set(LOOK_EVERY_MS, lookAgain)
      })
    },
    wake,
    close() {
      isOpen = false
      timer.cancel()
      giveAllBack()
    },
    open() {
      isOpen = true
    },
  }
}

/** Stands for deliveries that were not read. */
const UNKNOWN = ''
