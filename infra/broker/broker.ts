// The broker port: what every adapter does. There are two, amqp.ts (RabbitMQ) and embedded.ts (in this process), and
// test/contract/broker.contract.ts runs on both. services/main.ts opens the one that infra/config/engine.ts has chosen.
//
// There are two pairs of verbs:
//   publish → consume   durable work: confirmed, retried, dead-lettered
//   request → serve     calls: answered within a budget or not at all
//
// - Messages are delivered at least once: a handler may see the same id again, and must be idempotent on it.
// - A handler returns an outcome per message. Only the adapter acknowledges.
// - Bodies travel as JSON. They are serialised at once, so the caller may change the object afterwards.
// - Messages of one queue are delivered in about the order they were published; no order is promised.
// - `publish` and `request` reject with `Unavailable` at once while the broker is down or blocked; no promise hangs for ever.
import type { Trace } from '../trace.ts'
import { Unavailable } from '../unavailable.ts'
import type { CallQueue, Queue, WorkQueue } from './topology.ts'

export interface Message {
  /** Names the work: a message with the same id asks for the same work. It comes again after a crash, a retry or a repair. */
  id: string
  body: unknown
  /** Whose work it is; absent for work that no request has caused. */
  trace?: Trace
  /** True where it may have been published before, or was a dead letter: a handler may have begun the work, in a
   *  process that still runs, and need not have. It stays true when the message is retried. */
  publishedAgain?: boolean | undefined
}

/** A message as a handler gets it. */
export interface DeliveredMessage extends Message {
  /** 1 for the first delivery, one more for every `retry` before this one. A redelivery after a crash does not count. */
  attempt: number
  /** True once a consumer got the message and did not settle it: its process died, its connection was lost, or it was paused or stopped
   *  and returned the message, begun or not. So a handler may have begun the work, and need not have. It stays true when the message is
   *  retried. */
  redelivered: boolean
  /** When the message was first published, in epoch milliseconds of the publisher's clock. */
  publishedAt: number
}

/** A call as a server gets it. */
export interface ReceivedCall extends Message {
  /** True once its caller does not wait any longer. A server that lets calls wait asks before it executes one. */
  expired(): boolean
}

/** What a handler did with a message. */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'retry'; afterMs: number }
  | { kind: 'dead'; reason: string; unreadable?: boolean }
  | { kind: 'threw'; error: unknown }

/** The work is done, and the message is gone. */
export const done = (): Outcome => ({ kind: 'done' })

/** The message is delivered again after the queue's shortest declared delay of at least `afterMs`, or after the longest where none
 *  is as long. On a queue without delays a retry is a bug, and the message becomes a dead letter. */
export const retry = (afterMs: number): Outcome => ({ kind: 'retry', afterMs })

/** The message becomes a dead letter: it is kept for an operator and not delivered again. */
export const dead = (reason: string): Outcome => ({ kind: 'dead', reason })

/** The work failed in a way that was not foreseen: as if the handler had thrown, but for this message alone. It is a bug, or a stranger's
 *  error of the moment: the message is delivered again once after each of the queue's delays, the shortest first, and becomes a dead letter
 *  when it fails after the last. */
export const threw = (error: unknown): Outcome => ({ kind: 'threw', error })

/** The message becomes a dead letter, because its body is not one that this queue carries. */
export const unreadable = (problem: string): Outcome => ({
  kind: 'dead',
  reason: `unreadable: ${problem}`,
  unreadable: true,
})

/** How many messages a consumer works on at once. */
export interface Flow {
  /** The most messages delivered to this consumer and not settled yet. Calls that travel in one frame count as one. */
  prefetch: number
  /** The most messages given to the handler in one call. The handler gets those that wait, and never waits for more. Default: 1. */
  batch?: number
  /** The most calls of the handler under way at once. Default: `prefetch`. */
  parallel?: number
}

export interface Consumer {
  readonly queue: Queue
  /** True while the broker delivers to this consumer; false while it is paused or a lost connection is restored. */
  attached(): boolean
  /** Takes no more messages until `resume`: other consumers get them. Resolves when those that a handler has begun are settled; the
   *  others are returned to the queue at once. */
  pause(): Promise<void>
  /** Resolves once attached again. Does nothing for a consumer that is attached or stopped. */
  resume(): Promise<void>
  /** Takes no more messages, returns those that no handler has begun to the queue at once, and resolves when the others are
   *  settled. A message that is not settled after `graceMs` is returned to the queue for another consumer; its outcome is then
   *  ignored. Without `graceMs` it waits as long as the handlers take. */
  stop(graceMs?: number): Promise<void>
}

/** `blocked`: the broker is connected and takes no messages, because it lacks memory or disk. */
export type BrokerState = 'up' | 'blocked' | 'down'

export interface Depth {
  /** Messages that wait for a consumer. Those that wait for a retry are not among them. */
  ready: number
  /** Attached consumers of all processes. */
  consumers: number
  /** Dead letters; always 0 for a call queue. */
  dead: number
  /** How long the message that waits longest has been ready. Null where none waits, and where the broker cannot say. */
  oldestMs: number | null
  /** The name of the queue on the broker; null where the queue is in this process. */
  brokerName: string | null
}

/** Why messages die: the handler returned `dead`, it threw after the last delay too, the message is none of ours, or its consumers died
 *  with it, or returned it, too often. */
export const DEATH_CAUSES = ['gave_up', 'threw', 'unreadable', 'delivery_limit'] as const

export type DeathCause = (typeof DEATH_CAUSES)[number]

/** A message that died in this process. */
export interface Death {
  queue: Queue
  id: string
  attempt: number
  reason: string
  cause: DeathCause
  trace?: Trace
}

export interface DeadLetter extends Message {
  /** The handler's reason, the error it threw, or that consumers died with the message, or returned it, too often. */
  reason: string
  attempt: number
  /** Epoch milliseconds; 0 where another program made it a dead letter and did not say when. */
  diedAt: number
  /** Where it is in the list, for the next page. */
  position: string
  /** The content of a message that is not JSON; its `body` is then null. */
  content?: Uint8Array
}

/** The dead letters of one work queue. A message that died twice may be two letters with one id. */
export interface DeadLetters {
  /** Oldest first, those after a position where one is given. Listing changes nothing. On RabbitMQ a list covers 10 000 letters: newer
   *  ones are listed once those are repaired. */
  list(limit: number, after?: string): Promise<DeadLetter[]>
  /** The newest letter with this id. */
  get(id: string): Promise<DeadLetter | null>
  /** Moves the letters with these ids, or all that there are now, back to the work queue. Their `attempt` begins at 1
   *  again, `redelivered` is false, `publishedAgain` true, their `publishedAt` stays. Answers how many letters it
   *  moved. On RabbitMQ, moving all ends after 20 s, with those moved by then; a crash in the middle may leave a letter
   *  that was moved, and never loses one. */
  requeue(ids: readonly string[] | 'all'): Promise<number>
  /** Removes the letters with these ids, or all that there are now. Answers how many letters it removed. */
  drop(ids: readonly string[] | 'all'): Promise<number>
}

/** The same letters, with something done around each call. */
export const aroundDeadLetters = (
  letters: DeadLetters,
  around: <Result>(run: () => Promise<Result>) => Promise<Result>,
): DeadLetters => ({
  list: (limit, after) => around(() => letters.list(limit, after)),
  get: id => around(() => letters.get(id)),
  requeue: ids => around(() => letters.requeue(ids)),
  drop: ids => around(() => letters.drop(ids)),
})

export interface Broker {
  /** Resolves once the message is safe: on RabbitMQ when a majority has it on disk; in process, where nothing is on disk, when
   *  its handler is done with it (or it is a dead letter). In process, a message whose id is still in the queue joins the first one.
   *  Rejects with `Unroutable` where no such queue exists. Rejects with `Unavailable` also when the confirmation can no longer
   *  come; the message may then have been published. */
  publish(queue: WorkQueue, message: Message): Promise<void>
  /** Resolves with the server's answer. Rejects with `CallTimeout` when the budget is over, with `CallFailed` when the server
   *  threw, with `Unavailable` when the answer can no longer come. Calls of one tick may travel in one frame. */
  request(queue: CallQueue, message: Message, budgetMs: number): Promise<unknown>
  /** Resolves once attached; a lost connection is restored without the caller. No message is delivered, at first or after a lost
   *  connection, before this process can publish. `handle` returns one outcome per message, in
   *  their order. When it throws, or returns another number of outcomes, the outcome of all messages of that call is `threw`. */
  consume(queue: WorkQueue, handle: (waiting: DeliveredMessage[]) => Promise<Outcome[]>, flow: Flow): Promise<Consumer>
  /** Resolves once attached, as `consume` does. `answer` returns one JSON value per call, in their order. A call whose budget is over
   *  is not given to `answer`. On RabbitMQ a server does not know how long a call was in the queue, so a call may be answered up
   *  to two budgets after it was made: a caller that repeats it uses the same id. */
  serve(queue: CallQueue, answer: (waiting: ReceivedCall[]) => Promise<unknown[]>, flow: Flow): Promise<Consumer>
  depth(queue: Queue): Promise<Depth>
  dead(queue: WorkQueue): DeadLetters
  /** Calls the listener for each message that dies in this process: those that become dead letters, and calls that cannot be read. */
  onDeath(listener: (death: Death) => void): void
  state(): BrokerState
  /** Resolves once this process is connected and can publish, at once while it is; rejects with `Unavailable` when the broker is closed
   *  before. */
  whenUp(): Promise<void>
  /** Resolves once a message of this process went through the broker, confirmed, and came back to it. Rejects with `CallTimeout` when
   *  the budget is over, with `Unavailable` while the broker is down or blocked. */
  roundTrip(budgetMs: number): Promise<void>
  /** Stops every consumer as `Consumer.stop` does, rejects the calls and publishes that still wait, then disconnects. */
  close(graceMs?: number): Promise<void>
}

/** There is no such queue, so the message was not published. An adapter declares a queue that was deleted again, so a
 *  later try may succeed. */
export class Unroutable extends Unavailable {
  override name = 'Unroutable'
}

/** No answer came within the budget. The server may have executed the call. */
export class CallTimeout extends Error {
  override name = 'CallTimeout'
}

/** The server threw an error instead of answering. */
export class CallFailed extends Error {
  override name = 'CallFailed'
}
