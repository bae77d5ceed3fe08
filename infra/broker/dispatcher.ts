// Stands between an adapter and a handler. In: items as the broker delivers them. Out: calls of the handler with the items that
// wait, at most `parallel` at once, and for every item how it ended. Both adapters use it, for work and for calls, so that batches,
// errors and stopping mean the same everywhere.
import { inspect } from 'node:util'
import type { Clock } from '../clock.ts'
import { createFifo } from '../fifo.ts'
import { scrub } from '../log/scrub.ts'
import { withTimeout } from '../timeout.ts'
import type { DeathCause, Flow, Outcome } from './broker.ts'
import { delayFor } from './topology.ts'

const MAX_REASON_LENGTH = 1_000
const OUTCOME_KINDS: readonly Outcome['kind'][] = ['done', 'retry', 'dead', 'threw']

export type HandlerResult<Result> =
  | { kind: 'returned'; result: Result }
  /** The handler threw, or did not return one result per item. `error` is for the log, `reason` for the operator. */
  | { kind: 'failed'; reason: string; error: unknown }
  /** The item was not given to the handler, because `expired` answered true when its turn came. */
  | { kind: 'expired' }

export interface DispatcherOptions<Item, Result> {
  flow: Flow
  clock: Clock
  handle(items: Item[]): Promise<Result[]>
  /** Called once per item, unless the item was requeued or discarded. `stop` waits for a returned promise; handler calls do not. */
  settle(item: Item, handlerResult: HandlerResult<Result>): void | Promise<void>
  /** Returns items that will not be settled to the queue, in the order they came. There may be none. */
  requeue(items: Item[]): void
  expired?(item: Item): boolean
}

export interface Dispatcher<Item> {
  /** Gives the item to the handler once this tick's promises have run, so that items that arrive together are handled together.
   *  After `stop` the item is requeued. */
  accept(item: Item): void
  /** Requeues the items that no handler has begun; resolves when the others are settled, or requeued because `graceMs` are over. */
  stop(graceMs?: number): Promise<void>
  /** Drops every item without settling it: the connection it came on is gone, and the broker will deliver it again. */
  discard(): void
}

/** One call of the handler. Its items are taken away when they are requeued or discarded; its result is then ignored. */
interface HandlerCall<Item> {
  items: Item[]
}

export function createDispatcher<Item, Result>(options: DispatcherOptions<Item, Result>): Dispatcher<Item> {
  const { flow, clock, settle } = options
  const batch = flow.batch ?? 1
  const parallel = flow.parallel ?? flow.prefetch
  const waiting = createFifo<Item>()
  const calls = new Set<HandlerCall<Item>>()
  let settling = 0
  let scheduled = false
  let stopping = false
  let finish = (): void => {}
  const finished = new Promise<void>(resolve => {
    finish = resolve
  })

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    queueMicrotask(pump)
  }

  function pump(): void {
    scheduled = false
    while (calls.size < parallel && waiting.size > 0) {
      const items = take()
      if (items.length > 0) void run({ items })
    }
    finishIfIdle()
  }

  function take(): Item[] {
    const items: Item[] = []
    while (items.length < batch) {
      const item = waiting.shift()
      if (item === undefined) break
      if (options.expired?.(item)) settleItem(item, { kind: 'expired' })
      else items.push(item)
    }
    return items
  }

  async function run(call: HandlerCall<Item>): Promise<void> {
    calls.add(call)
    const handlerResult = await runHandler(options.handle, call.items)
    calls.delete(call)
    for (const [index, item] of call.items.entries()) settleItem(item, handlerResult(index))
    schedule()
  }

  function settleItem(item: Item, handlerResult: HandlerResult<Result>): void {
    const settled = settle(item, handlerResult)
    if (!settled) return
    settling += 1
    const over = (): void => {
      settling -= 1
      schedule()
    }
    settled.then(over, over)
  }

  function takeUnfinished(): Item[] {
    const items = [...calls].flatMap(call => call.items)
    for (const call of calls) call.items = []
    return items
  }

  function finishIfIdle(): void {
    if (stopping && calls.size === 0 && settling === 0) finish()
  }

  return {
    accept(item) {
      if (stopping) return options.requeue([item])
      waiting.push(item)
      schedule()
    },
    async stop(graceMs) {
      stopping = true
      options.requeue(waiting.clear())
      finishIfIdle()
      if (graceMs === undefined) return finished
      if (graceMs > 0) await withTimeout(clock, graceMs, finished)
      options.requeue(takeUnfinished())
      finish() // an earlier `stop` without a limit need not wait any longer
    },
    discard() {
      waiting.clear()
      takeUnfinished()
    },
  }
}

/** Never throws. Answers a function that says how the item at an index ended. */
async function runHandler<Item, Result>(
  handle: (items: Item[]) => Promise<Result[]>,
  items: Item[],
): Promise<(index: number) => HandlerResult<Result>> {
  const count = items.length
  try {
    const results: unknown = await handle(items.slice())
    const returned = Array.isArray(results) ? results.length : 0
    if (returned === count) return index => ({ kind: 'returned', result: (results as Result[])[index] as Result })
    throw new Error(`the handler returned ${returned} results for ${count} ${count === 1 ? 'message' : 'messages'}`)
  } catch (error) {
    const failed: HandlerResult<Result> = { kind: 'failed', reason: reasonOf(error), error }
    return () => failed
  }
}

const reasonOf = (thrown: unknown): string =>
  scrubReason(thrown instanceof Error || typeof thrown === 'string' ? String(thrown) : inspect(thrown))

/** Short enough for a message header, and without secrets, as a log line is: operators read it in the dead letters. */
const scrubReason = (reason: string): string => scrub(reason).slice(0, MAX_REASON_LENGTH)

/** What an adapter does with a work message. */
export type Settlement =
  | Exclude<Outcome, { kind: 'retry' | 'dead' | 'threw' }>
  /** `failures`: how often the message has failed unforeseen, this time included. */
  | { kind: 'retry'; afterMs: number; failures: number }
  | { kind: 'dead'; reason: string; cause: DeathCause }

/** What a handler threw, or says that it would have; undefined where it foresaw what happened. */
export function errorOf(handlerResult: HandlerResult<Outcome>): unknown {
  if (handlerResult.kind === 'failed') return handlerResult.error
  return handlerResult.kind === 'returned' && handlerResult.result?.kind === 'threw'
    ? handlerResult.result.error
    : undefined
}

/** What becomes of a work message: the outcome its handler returned, a retry with one of the queue's delays. `failures` says how often the
 *  message has failed unforeseen before. Each delay is tried once after such a failure. */
export function settlementOf(
  handlerResult: HandlerResult<Outcome>,
  delays: readonly number[],
  failures: number,
): Settlement {
  if (handlerResult.kind === 'failed') return afterFailure(handlerResult.reason, delays, failures)
  if (handlerResult.kind === 'expired') return giveUp('expired before it was handed over')
  const outcome = handlerResult.result
  if (!OUTCOME_KINDS.includes(outcome?.kind))
    return afterFailure(scrubReason(`the handler returned no outcome: ${inspect(outcome)}`), delays, failures)
  if (outcome.kind === 'threw') return afterFailure(reasonOf(outcome.error), delays, failures)
  if (outcome.kind === 'dead')
    return {
      kind: 'dead',
      reason: scrubReason(String(outcome.reason)),
      cause: outcome.unreadable ? 'unreadable' : 'gave_up',
    }
  if (outcome.kind === 'done') return outcome
  const afterMs = delayFor(delays, outcome.afterMs)
  return afterMs === undefined
    ? giveUp('a retry was asked of a queue without delays')
    : { kind: 'retry', afterMs, failures }
}

const giveUp = (reason: string): Settlement => ({ kind: 'dead', reason, cause: 'gave_up' })

function afterFailure(reason: string, delays: readonly number[], failures: number): Settlement {
  const afterMs = delays[failures]
  return afterMs === undefined
    ? { kind: 'dead', reason, cause: 'threw' }
    : { kind: 'retry', afterMs, failures: failures + 1 }
}
