// Backlogs: events that wait for their endpoint in the store, oldest first, because all slots were taken, the endpoint
// was paused, or they are to be sent again. In: an endpoint whose backlog may be sent. Out: its events sent as fast as
// slots allow. The store is the queue, so waiting costs neither memory nor prefetch and survives the process. Each
// process drains an endpoint's backlog once at a time; two processes may drain the same backlog, because each attempt
// is started by a conditional change.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { sleep } from '../../infra/timeout.ts'
import type { EventDoc, WebhookEndpoint } from '../domain/webhooks/documents.ts'
import { type EndpointRef, eventFilterOf, storedEndpointId } from '../domain/webhooks/endpoint-ids.ts'
import { drainMessage, type Remind } from '../domain/webhooks/queue-messages.ts'
import { type Endpoint, type Endpoints, endpointFields, isCallable, isPaused } from './endpoints.ts'
import { cancelAttempt } from './event-changes.ts'
import type { Tenant } from './slots.ts'
import { giveUpEvents, holdEvents, releaseRetries } from './waiting-events.ts'

export interface Backlogs {
  /** Must be awaited before an event is put into a backlog: if this process dies, the mark makes the sweeper have it drained. */
  mark(endpoint: EndpointRef): Promise<void>
  /** Sends the backlog as fast as the endpoint's slots allow; while the endpoint is paused, holds the events that wait
   *  for it, and once it is deleted, gives them up. Returns at once. `mark` is cleared when the backlog is empty. While
   *  this process may not work, another one is asked to. */
  drain(endpoint: EndpointRef, mark?: number): void
  /** Moves an event to its endpoint's backlog whose attempt was started, but for which no call will be made now. */
  park(started: EventDoc): Promise<void>
  /** Asks other processes for the drains that this one has begun. It ends them itself as soon as it may not work. */
  handOver(): void
}

export interface BacklogDeps {
  events: Pick<Docs<EventDoc>, 'find' | 'change'>
  webhooks: Pick<Docs<WebhookEndpoint>, 'get' | 'modify' | 'remove'>
  endpoints: Pick<Endpoints, 'get' | 'reload'>
  freeSlots(endpoint: Endpoint, tenant: Tenant): number
  /** Resolves when a slot of this endpoint is free again. */
  whenSlotFree(endpoint: Endpoint): Promise<void>
  /** Starts attempts and calls the endpoint in the events' order, as far as there are slots. */
  attempt(waiting: readonly EventDoc[], endpoint: Endpoint): Promise<number>
  remind: Remind
  /** While false, no event is taken from a backlog. */
  mayWork(): boolean
  clock: Clock
  log: Logger
}

/** Events are sent no faster than this to an endpoint that may just have recovered. */
const RECOVERY_PER_SECOND = 50
const DRAIN_PAGE = 200
/** The sweeper acts on a mark after MARK_AHEAD_MS. A mark is renewed well before, so that it covers events put into the backlog since. */
const MARK_AHEAD_MS = 30_000
const RENEW_MARK_MS = 10_000
/** Passed on every clock. */
const LONG_AGO = 1
const MAX_MARKS = 10_000
/** Until the backlog of an endpoint to which nothing can be sent is tried again. */
const UNSENDABLE_RETRY_MS = 60_000
/** Calls that were under way when an endpoint was enabled or deleted have their result by then, those of processes that died too. */
const LATE_RESULTS_MS = 60_000

interface DrainState {
  endpoint: EndpointRef
  /** Whether a drain was asked for since the last one began. */
  rerun: boolean
  mark?: number
}

/** Why a drain ended: nothing is left to send, the endpoint is paused or nothing can be sent to it, or this process may not work. */
type DrainEnd = 'over' | 'paused' | 'unsendable' | 'interrupted'

export function createBacklogs(deps: BacklogDeps): Backlogs {
  const { events, webhooks, endpoints, freeSlots, whenSlotFree, attempt, remind, mayWork, clock, log } = deps
  const draining = new Map<string, DrainState>()
  const marked = createBoundedMap<{ at: number; writing: Promise<unknown> }>(MAX_MARKS)

  async function drainPage(endpoint: EndpointRef): Promise<'more' | DrainEnd> {
    const page = { sort: { backlog_at: 1 }, limit: DRAIN_PAGE } as const
    const oldest = await events.find({ ...eventFilterOf(endpoint), backlog_at: { $gt: 0 } }, page)
    let tried = 0
    for (let first = oldest[0]; first; first = oldest[tried]) {
      const ready = await waitForSlot(first)
      if (typeof ready === 'string') return ready
      const next = oldest.slice(tried, tried + freeSlots(ready, first))
      tried += next.length
      await attempt(next, ready)
      const recovering = next.filter(({ backlog }) => backlog === 'recovery').length
      if (recovering > 0) await sleep(clock, (recovering * 1000) / RECOVERY_PER_SECOND)
    }
    return tried > 0 ? 'more' : 'over'
  }

  /** Answers the endpoint once it has a free slot, or why nothing is to be sent now. */
  async function waitForSlot(tenant: Tenant): Promise<Endpoint | DrainEnd> {
    for (;;) {
      const endpoint = await endpoints.get(tenant)
      if (!mayWork()) return 'interrupted'
      if (!endpoint) return 'over'
      if (isPaused(endpoint)) return 'paused'
      if (isUnsendable(endpoint)) return 'unsendable'
      if (freeSlots(endpoint, tenant) > 0) return endpoint
      await whenSlotFree(endpoint)
    }
  }

  async function drainAll(state: DrainState): Promise<void> {
    const ref = state.endpoint
    while (state.rerun && mayWork()) {
      const { mark } = state
      state.rerun = false
      const startedAt = clock.now()
      // The endpoint may have been enabled since it was cached.
      const endpoint = await endpoints.reload(ref)
      const retryAllBefore = endpoint && isCallable(endpoint) ? endpoint.retry_all_before : undefined
      // All are moved before the first is sent, so that the oldest goes first.
      if (retryAllBefore !== undefined) await releaseRetries(events, ref, retryAllBefore)
      let outcome: Awaited<ReturnType<typeof drainPage>> = 'more'
      if (endpoint === null) {
        await removeDeleted(ref)
        continue
      }
      if (isUnsendable(endpoint)) outcome = 'unsendable'
      else if (isPaused(endpoint)) outcome = 'paused'
      while (outcome === 'more') outcome = mayWork() ? await drainPage(ref) : 'interrupted'
      if (outcome === 'paused') {
        await holdEvents(events, ref)
        outcome = 'over'
        // If the endpoint was enabled meanwhile, its backlog may have been drained before these events were held.
        const now = await endpoints.reload(ref)
        if (now && !isPaused(now)) state.rerun = true
      }
      if (mark === undefined) continue
      const lateUntil = (retryAllBefore ?? 0) + LATE_RESULTS_MS
      if (outcome === 'unsendable') await postponeMark(ref, mark, clock.now() + UNSENDABLE_RETRY_MS)
      else if (outcome === 'over' && startedAt < lateUntil) await postponeMark(ref, mark, lateUntil)
      else if (outcome === 'over') await clearMark(ref, mark)
    }
  }

  /** Clears only the mark that this drain was asked for: a newer mark announces events that may not be stored yet. */
  const clearMark = (endpoint: EndpointRef, mark: number): Promise<unknown> =>
    webhooks.modify(
      { _id: storedEndpointId(endpoint), drain_at: mark },
      { $unset: { drain_at: true, retry_all_before: true } },
    )

  /** Lets the sweeper ask again, but not often: the endpoint may stay as it is for long. */
  const postponeMark = (endpoint: EndpointRef, mark: number, until: number): Promise<unknown> =>
    webhooks.modify({ _id: storedEndpointId(endpoint), drain_at: mark }, { $set: { drain_at: until } })

  /** Its document is removed once no process can put another event into its backlog; until then the sweeper asks again. */
  async function removeDeleted(endpoint: EndpointRef): Promise<void> {
    const _id = storedEndpointId(endpoint)
    const deletedAt = (await getOne(webhooks, _id))?.deleted_at
    if (deletedAt === undefined) return
    await giveUpEvents(events, endpoint)
    const over = deletedAt + LATE_RESULTS_MS
    if (clock.now() >= over) await webhooks.remove({ _id, deleted_at: deletedAt }, 1)
    else await webhooks.modify({ _id, deleted_at: deletedAt }, { $set: { drain_at: over } })
  }

  const askOthers = (endpoint: EndpointRef, mark?: number): void => remind(drainMessage(endpoint, clock.now(), mark))

  function drain(endpoint: EndpointRef, mark?: number): void {
    if (!mayWork()) return void askOthers(endpoint, mark)
    const id = storedEndpointId(endpoint)
    const running = draining.get(id)
    const state: DrainState = running ?? { endpoint, rerun: true }
    state.rerun = true
    if (mark !== undefined) state.mark = mark
    if (running) return
    draining.set(id, state)
    drainAll(state)
      .catch(error => {
        state.rerun = false
        log.warn({ err: error, ...endpointFields(endpoint) }, 'webhook.not_drained')
      })
      .finally(() => {
        draining.delete(id)
        // A drain was asked for while this one ended.
        if (state.rerun) drain(endpoint, state.mark)
      })
  }

  async function mark(endpoint: EndpointRef): Promise<void> {
    const _id = storedEndpointId(endpoint)
    // A mark by a wrong clock might be acted on too late.
    if (!mayWork()) return void (await webhooks.modify({ _id }, { $max: { drain_at: LONG_AGO } }))
    const now = clock.now()
    const known = marked.get(_id)
    // A mark that was written before the clock was set back does not count.
    if (known && known.at <= now && now < known.at + RENEW_MARK_MS) return void (await known.writing)
    const writing = webhooks.modify({ _id }, { $max: { drain_at: now + MARK_AHEAD_MS } })
    marked.set(_id, { at: now, writing })
    writing.catch(() => marked.delete(_id))
    await writing
  }

  async function park(started: EventDoc): Promise<void> {
    const { _id, rev } = started
    const endpoint = await endpoints.get(started)
    const backlog = endpoint && isPaused(endpoint) ? 'recovery' : 'overflow'
    if (backlog === 'overflow') await mark(started)
    await events.change([{ _id, rev, update: cancelAttempt(started, backlog) }])
    if (backlog === 'overflow') drain(started)
  }

  return {
    mark,
    park,
    drain,
    handOver() {
      for (const { endpoint, mark } of draining.values()) askOthers(endpoint, mark)
    },
  }
}

/** An active endpoint whose secret cannot be opened, or whose company is closed: nothing can be sent now, and no
 *  message will say when that changes. */
const isUnsendable = (endpoint: Endpoint): boolean => !isPaused(endpoint) && !endpoint.sendable
