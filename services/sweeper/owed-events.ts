// Webhook events that verifications have caused, and that the webhook actor has not stored: their message was lost, or
// is a dead letter. In: verifications, in the order of the time at which their events are to be looked for. Out:
// messages of events that are missing, published again. An event is known by its id, so a message too many does no
// harm; it is published again only when the queue holds nothing that old, and then after 1, 2, 4 … minutes. Nothing is
// written for a verification whose events are all stored. Every change that refunds or charges again causes an event
// too, so the same look finds the entries of the ledger that are missing (owed-entries.ts).
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import { ulidTime } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Pipeline } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import { EVENT_LOOK_ID, type OtpDoc } from '../domain/verifications/documents.ts'
import { effectMessages, messageIn } from '../domain/verifications/outbox.ts'
import { type CausedEvent, eventsOf, LOOK_FOR_EVENTS_AFTER_MS, lookForEventsAt } from '../domain/verifications/owed.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { eventOfDoc } from '../domain/webhooks/event-ids.ts'
import { createMayHold, GIVE_UP_AFTER_MS, waitAfterPublish, waitForBroker } from './lost-messages.ts'
import { createEnterOwed } from './owed-entries.ts'
import { SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface OwedEventDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish' | 'depth'>
  accounts: Pick<Accounts, 'enter' | 'find'>
  clock: Clock
  log: Pick<Logger, 'warn'>
  /** No other process uses the store, so what was saved before the start and not published is lost, and need not be waited for. */
  soleProcess: boolean
}

const QUEUE = 'webhook.deliver'
/** Among so many of the newest events, some came through the queue. Those of apps without an endpoint do not. */
const NEWEST_EVENTS_READ = 50
/** More than a verification has. */
const MAX_EVENTS_READ = 100

export function createOwedEventSweeps({
  store,
  broker,
  accounts,
  clock,
  log,
  soleProcess,
}: OwedEventDeps): Record<string, Sweep> {
  const enterOwed = createEnterOwed({ store, accounts, log })
  const [otps, events, looks] = [store.docs('otps'), store.docs('events'), store.docs('event_looks')]
  const beforeStart = soleProcess ? lookForEventsAt(clock.now() - 1) : 0
  /** Null until it is read, and after another process may have gone on. */
  let lookedUntil: number | null = null

  async function newestTaken(): Promise<number> {
    const newest = await events.find({ _id: { $gt: 'evt_' } }, { sort: { _id: -1 }, limit: NEWEST_EVENTS_READ })
    const taken = newest.find(({ status, type }) => status !== 'unsent' && type !== 'webhook.test')
    return taken === undefined ? 0 : (ulidTime(eventOfDoc(taken)) ?? 0)
  }

  /** In the background: on the embedded broker a publish resolves when the message is done. */
  function publishAgain(otp: OtpDoc, { effect, at }: CausedEvent): void {
    const fields = { otp_id: otp._id, app_id: otp.app_id, event_id: effect.id, type: effect.event }
    log.warn(fields, 'event.published_again')
    for (const entry of effectMessages(otp, [effect], at, undefined))
      broker
        .publish(entry.queue, messageIn(entry))
        .catch(error => log.warn({ ...fields, err: error }, 'event.not_published_again'))
  }

  /** Events that went to later endpoints of their app only have other ids, so they are looked for by what they tell. */
  async function withoutStored(otp_id: string, missing: readonly CausedEvent[]): Promise<CausedEvent[]> {
    const stored = await events.find(
      { 'payload.otp_id': otp_id },
      { sort: { 'payload.otp_id': 1, _id: -1 }, limit: MAX_EVENTS_READ },
    )
    return missing.filter(({ effect }) => !stored.some(event => isSameEvent(event, effect)))
  }

  /** Answers when to look again; null when there is nothing left to look for. */
  async function look(
    otp: OtpDoc,
    missing: readonly CausedEvent[],
    mayHold: (at: number) => Promise<boolean>,
    now: number,
  ): Promise<number | null> {
    let nextMs = Number.POSITIVE_INFINITY
    for (const event of await withoutStored(otp._id, missing)) {
      const ageMs = now - event.at
      const isWithBroker = await mayHold(event.at)
      if (!isWithBroker) publishAgain(otp, event)
      const waitMs = isWithBroker ? waitForBroker(ageMs) : waitAfterPublish(ageMs, LOOK_FOR_EVENTS_AFTER_MS)
      nextMs = Math.min(nextMs, waitMs)
    }
    return nextMs === Number.POSITIVE_INFINITY ? null : now + nextMs
  }

  async function lookAll(due: readonly OtpDoc[], now: number): Promise<void> {
    const caused = due.map(otp => eventsOf(toCurrentVersion(otp)).filter(({ at }) => now - at <= GIVE_UP_AFTER_MS))
    const stored = await events.get(caused.flatMap(all => all.map(({ effect }) => effect.id)))
    const mayHold = createMayHold({ broker, clock, queue: QUEUE, newestTaken, now })
    for (const [nth, otp] of due.entries()) {
      const missing = (caused[nth] ?? []).filter(({ effect }) => !stored.has(effect.id))
      const next = missing.length === 0 ? null : await look(otp, missing, mayHold, now)
      if (next !== null) await otps.update([{ ids: [otp._id], update: lookAgainAt(otp.events_at ?? 0, next) }])
    }
  }

  return {
    /** In the order of time over all partitions, by the process that holds partition 0. */
    async owed_events(partitions) {
      if (!partitions.includes(0)) {
        lookedUntil = null
        return 0
      }
      const now = clock.now()
      lookedUntil ??= (await getOne(looks, EVENT_LOOK_ID))?.until ?? 0
      const due = await otps.find(
        { events_at: { $gt: lookedUntil, $lte: Math.max(beforeStart, now) } },
        { sort: { events_at: 1 }, limit: SWEEP_BATCH },
      )
      if (due.length === 0) return 0
      // First, because what is looked at is not due again at once.
      await Promise.all(due.map(enterOwed))
      await lookAll(due, now)
      const until = lookedUntilAfter(due)
      await looks.modify({ _id: EVENT_LOOK_ID }, { $max: { until } }, { upsert: true })
      lookedUntil = until
      return due.length
    },
  }
}

/** A full batch may have cut a millisecond in two, so its last millisecond is looked at again. A whole batch in one millisecond is more
 *  than the system saves. */
function lookedUntilAfter(due: readonly OtpDoc[]): number {
  const [first, last] = [due[0]?.events_at ?? 0, due.at(-1)?.events_at ?? 0]
  return due.length === SWEEP_BATCH && first < last ? last - 1 : last
}

const isSameEvent = ({ type, payload }: EventDoc, { event, payload: caused }: CausedEvent['effect']): boolean =>
  type === event && payload.delivery_id === ('delivery_id' in caused ? caused.delivery_id : undefined)

/** Unless a newer event has set another time since. */
const lookAgainAt = (read: number, next: number): Pipeline => [
  { $set: { events_at: { $cond: [{ $eq: ['$events_at', read] }, next, '$events_at'] } } },
]
