// The broker port. Two pairs of verbs, written once and run on RabbitMQ and in process:
//   publish → consume   durable work: confirmed, retried, dead-lettered
//   request → serve     calls: answered within a budget or not at all
// Handlers return outcomes; only an adapter acknowledges.
import type { CallQueue, Queue, WorkQueue } from './topology.ts'

/** `id` is the idempotency key of the work: a consumer may see the same id again after a crash, a retry or a repair. */
export interface Message {
  id: string
  body: unknown
}

/** A message as its consumer sees it. */
export interface DeliveredMessage extends Message {
  /** 1 for the first delivery, one more for every `retry` before this one. A redelivery after a crash does not count. */
  attempt: number
  /** When it was first published, epoch milliseconds of the publisher's clock. */
  publishedAt: number
}

export type Outcome = { kind: 'done' } | { kind: 'retry'; afterMs: number } | { kind: 'dead'; reason: string }

export const done = (): Outcome => ({ kind: 'done' })
/** Delivered again after the queue's shortest declared delay of at least `afterMs` (its longest, when none is as long).
 *  On a queue without delays it is a bug, and dead. */
export const retry = (afterMs: number): Outcome => ({ kind: 'retry', afterMs })
export const dead = (reason: string): Outcome => ({ kind: 'dead', reason })

export interface Flow {
  /** The most messages held by this consumer and not settled yet. A frame of calls counts as one. */
  prefetch: number
  /** The most messages handed over in one call of the handler: those that were waiting. 1 unless told. */
  batch?: number
  /** The most calls of the handler under way at once. As many as `prefetch` unless told. */
  parallel?: number
}

export interface Consumer {
  /** True while the broker feeds this consumer; false while a cut is healing. */
  attached(): boolean
  /** Takes no more work, hands back at once what no handler has begun, and resolves when the rest is settled. What is not
   *  settled after `graceMs` is handed back to the queue for another consumer, and how it ends is then ignored. */
  stop(graceMs?: number): Promise<void>
}

export type BrokerState = 'up' | 'blocked' | 'down'

export interface Depth {
  /** Waiting for a consumer. */
  ready: number
  /** Consumers attached, over all processes. */
  consumers: number
}

export interface DeadLetter extends Message {
  /** Why it died: the handler's reason, what it threw, or that its consumers kept dying on it or handing it back. */
  reason: string
  attempt: number
  diedAt: number
}

export interface DeadLetters {
  /** Oldest first. Looking changes nothing. */
  list(limit: number): Promise<DeadLetter[]>
  /** Back to the work queue with its attempts afresh, its time of publishing kept; answers how many of these were found. */
  requeue(ids: string[]): Promise<number>
  drop(ids: string[]): Promise<number>
  count(): Promise<number>
}

export interface Broker {
  /** Resolves once the message is safe: confirmed by RabbitMQ; handled (done or dead), in process, where an id not handled yet
   *  is joined, not doubled. The body is taken as JSON, at once. Rejects with `Unroutable`,
   *  or with `Unavailable` at once when the broker is down or blocked or its answer can no longer come. */
  publish(queue: WorkQueue, message: Message): Promise<void>
  /** Resolves with what the server answered. Rejects with `CallTimeout` past the budget, `CallFailed` when the server threw,
   *  `Unavailable` as above. Calls of one tick may travel together. */
  request(queue: CallQueue, message: Message, budgetMs: number): Promise<unknown>
  /** Resolves once attached. One outcome per message, in their order; a throw dead-letters the whole batch. */
  consume(queue: WorkQueue, handle: (waiting: DeliveredMessage[]) => Promise<Outcome[]>, flow: Flow): Promise<Consumer>
  /** Resolves once attached. One answer per call, in their order. A call that waited past its budget is never handed over. (RabbitMQ
   *  does not say how long a call was in the queue, so there and at the server it may wait a budget each: idempotent on its id.) */
  serve(queue: CallQueue, answer: (waiting: Message[]) => Promise<unknown[]>, flow: Flow): Promise<Consumer>
  depth(queue: Queue): Promise<Depth>
  dead(queue: WorkQueue): DeadLetters
  state(): BrokerState
  /** Stops every consumer as `Consumer.stop` does, rejects what is still waiting for the broker, then hangs up. */
  close(graceMs?: number): Promise<void>
}

/** No queue took the message: it was handed back, not lost. */
export class Unroutable extends Error {
  override name = 'Unroutable'
}
/** No answer within the budget. The command may or may not have been executed. */
export class CallTimeout extends Error {
  override name = 'CallTimeout'
}
/** The server threw while answering. */
export class CallFailed extends Error {
  override name = 'CallFailed'
}
