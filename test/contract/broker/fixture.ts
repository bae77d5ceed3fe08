// Helpers of the broker contract: publishing without waiting, gates that stop a handler, and time that passes.
import { expect } from 'chai'
import {
  type Broker,
  type DeliveredMessage,
  done,
  type Flow,
  type Message,
  type Outcome,
} from '../../../infra/broker/broker.ts'
import { createTopology, type WorkQueue } from '../../../infra/broker/topology.ts'
import { eventually } from '../../support/eventually.ts'

export interface BrokerUnderTest {
  /** A broker on fresh, empty queues declared from CONTRACT_TOPOLOGY. */
  broker: Broker
  /** Another process's connection to the same queues; in process, the same broker. */
  other: Broker
  /** The fake clock of the broker; none where time passes by itself. */
  clock?: { now(): number; advance(ms: number): Promise<void> }
  /** Closes the broker without waiting for handlers that hang. */
  close(): Promise<void>
}

export const CONTRACT_TOPOLOGY = createTopology({ channel: [50, 100], webhook: [50, 150, 400] })

/** The queue that most cases use, and its delays. */
export const QUEUE: WorkQueue = 'webhook.deliver'
export const DELAYS = CONTRACT_TOPOLOGY.work[QUEUE]

export interface Latch {
  /** Waits until the gate is open. */
  pass(): Promise<void>
  open(): void
}

/** When something happened, on the fake clock and on the real one. */
export interface Moment {
  fake: number
  real: number
}

export interface BrokerFixture extends BrokerUnderTest {
  /** Publishes without waiting: in process, a publish resolves only when it was handled. */
  publish(queue: WorkQueue, ...messages: Message[]): void
  /** Resolves when every earlier `publish` has resolved. */
  published(): Promise<void>
  /** Lets time pass until the check holds. */
  inTime<T>(check: () => T | Promise<T>, withinMs?: number): Promise<T>
  /** How a promise ends, while time passes. */
  resultOf(promise: Promise<unknown>): Promise<PromiseResult>
  moment(): Moment
  /** A gate that stays shut until it is opened, or until the test is over. */
  gate(): Latch
  tearDown(): Promise<void>
}

export type PromiseResult = { value: unknown } | { error: unknown }

export function createBrokerFixture(under: BrokerUnderTest): BrokerFixture {
  const publishes: Promise<void>[] = []
  const gates: Latch[] = []
  let fake = 0

  // The fake clock is moved no faster than the real one, in steps of 1 ms. So "at least so long" is true of both adapters when it is
  // true on the clock that shows more.
  async function inTime<T>(check: () => T | Promise<T>, withinMs?: number): Promise<T> {
    const offset = performance.now() - fake
    return eventually(async () => {
      while (fake + 1 <= performance.now() - offset) {
        fake += 1
        await under.clock?.advance(1)
      }
      return check()
    }, withinMs)
  }

  return {
    ...under,
    publish(queue, ...messages) {
      for (const message of messages) {
        const publish = under.broker.publish(queue, message)
        publish.catch(() => {}) // a case that needs the result calls `published`; others may end with messages in the queue
        publishes.push(publish)
      }
    },
    async published() {
      await Promise.all(publishes)
    },
    inTime,
    async resultOf(promise) {
      let ending: PromiseResult | undefined
      promise.then(
        value => {
          ending = { value }
        },
        error => {
          ending = { error }
        },
      )
      return inTime(() => {
        if (!ending) throw new Error('the promise is still pending')
        return ending
      })
    },
    moment: () => ({ fake: under.clock?.now() ?? 0, real: performance.now() }),
    gate() {
      const gate = createLatch()
      gates.push(gate)
      return gate
    },
    async tearDown() {
      for (const gate of gates) gate.open()
      await under.close()
    },
  }
}

function createLatch(): Latch {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { pass: () => opened, open: () => open() }
}

export const elapsedBetween = (from: Moment, to: Moment): number => Math.max(to.fake - from.fake, to.real - from.real)

export function expectError(ending: PromiseResult, kind: new (message: string) => Error): void {
  expect('error' in ending ? ending.error : ending).to.be.instanceOf(kind)
}

export const expectValue = (ending: PromiseResult, value: unknown): void => {
  expect(ending).to.deep.equal({ value })
}

/** A handler for one message at a time, as the port wants it. */
export const eachMessage =
  (handle: (message: DeliveredMessage) => Outcome | Promise<Outcome>) =>
  (waiting: DeliveredMessage[]): Promise<Outcome[]> =>
    Promise.all(waiting.map(handle))

/** Consumes with `done` and keeps what came. */
export async function collect(broker: Broker, queue: WorkQueue, flow: Flow = { prefetch: 10 }) {
  const seen: DeliveredMessage[] = []
  const consumer = await broker.consume(
    queue,
    eachMessage(message => {
      seen.push(message)
      return done()
    }),
    flow,
  )
  return { seen, consumer }
}

export const numberedMessages = (count: number, prefix = 'm'): Message[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, body: index }))

export const ids = (messages: readonly { id: string }[]): string[] => messages.map(message => message.id)
