// A call queue in memory: request → serve. The calls of one turn of the event loop travel in one frame, as they do on RabbitMQ,
// so that a busy server gets many at once and its prefetch counts the same things.
import { setImmediate } from 'node:timers'
import type { Clock } from '../../clock.ts'
import { requestOf, type Trace, withTrace } from '../../trace.ts'
import { Unavailable } from '../../unavailable.ts'
import { CallFailed, CallTimeout, type Depth, type Flow, type Message, type ReceivedCall } from '../broker.ts'
import { createDispatcher, type HandlerResult } from '../dispatcher.ts'
import type { AttachedConsumer } from '../pausable-consumer.ts'
import { createSharedQueue, type Waiting } from './shared-queue.ts'
import type { Log } from './work-queue.ts'

export interface MemoryCallQueue {
  request(message: Message, budgetMs: number): Promise<unknown>
  serve(answer: (waiting: ReceivedCall[]) => Promise<unknown[]>, flow: Flow): AttachedConsumer
  depth(): Depth
  close(graceMs?: number): Promise<void>
}

interface Frame extends Waiting {
  calls: Call[]
  /** How many of the calls still have a waiting caller. */
  open: number
  /** How many of the calls the server has not settled yet. */
  unsettled: number
}

interface Call {
  readonly id: string
  /** JSON. */
  readonly body: string
  readonly trace: Trace | undefined
  readonly deadline: number
  frame: Frame
  cancelTimer(): void
  resolve(answer: unknown): void
  reject(error: Error): void
}

export function createCallQueue(options: { queue: string; clock: Clock; log?: Log | undefined }): MemoryCallQueue {
  const { queue: name, clock, log } = options
  const queue = createSharedQueue<Frame>(clock)
  /** Calls whose caller still waits. */
  const open = new Set<Call>()
  let openFrame: Frame | undefined
  let closed = false

  function frameForNext(): Frame {
    if (openFrame) return openFrame
    const frame = emptyFrame(clock.now())
    openFrame = frame
    setImmediate(() => closeFrame(frame))
    queue.push(frame)
    return frame
  }

  function closeFrame(frame: Frame): void {
    if (openFrame === frame) openFrame = undefined
  }

  function addToFrame(call: Call, frame: Frame): void {
    call.frame = frame
    frame.calls.push(call)
    frame.open += 1
    frame.unsettled += 1
  }

  /** The caller gets one answer or error. False for a call that has had its own. */
  function close(call: Call): boolean {
    if (!open.delete(call)) return false
    call.frame.open -= 1
    call.cancelTimer()
    return true
  }

  const fail = (call: Call, error: Error): void => {
    if (close(call)) call.reject(error)
  }

  function timeOut(call: Call, budgetMs: number): void {
    fail(call, new CallTimeout(`${name} did not answer ${call.id} within ${budgetMs} ms`))
    dropAbandonedFrames()
  }

  /** Without a server, frames whose callers are gone would pile up. */
  function dropAbandonedFrames(): void {
    for (let frame = queue.peek(); frame?.open === 0; frame = queue.peek()) {
      closeFrame(frame)
      queue.shift()
    }
  }

  function settle(call: Call, handlerResult: HandlerResult<unknown>): void {
    if (handlerResult.kind === 'expired') return // the call's timer rejects it
    if (handlerResult.kind === 'failed') {
      log?.error({ queue: name, id: call.id, ...requestOf(call), err: handlerResult.error }, 'call.failed')
      fail(call, new CallFailed(handlerResult.reason))
    } else answer(call, handlerResult.result)
  }

  function answer(call: Call, result: unknown): void {
    try {
      const json = JSON.stringify(result) ?? 'null'
      if (close(call)) call.resolve(JSON.parse(json))
    } catch (error) {
      fail(call, new CallFailed(`the answer is not JSON: ${error}`))
    }
  }

  async function request(message: Message, budgetMs: number): Promise<unknown> {
    if (closed) throw new Unavailable('the broker is closed')
    const body = JSON.stringify(message.body) ?? 'null'
    return new Promise((resolve, reject) => {
      const frame = frameForNext()
      const deadline = clock.now() + budgetMs
      const cancelTimer = clock.after(budgetMs, () => timeOut(call, budgetMs))
      const { id, trace } = message
      const call: Call = { id, body, trace, deadline, frame, cancelTimer, resolve, reject }
      addToFrame(call, frame)
      open.add(call)
    })
  }

  const isExpired = (call: Call): boolean => !open.has(call) || clock.now() >= call.deadline

  const received = (call: Call): ReceivedCall => ({
    id: call.id,
    body: JSON.parse(call.body),
    ...withTrace(call.trace),
    expired: () => isExpired(call),
  })

  function serve(answerAll: (waiting: ReceivedCall[]) => Promise<unknown[]>, flow: Flow): AttachedConsumer {
    return queue.attach(flow.prefetch, release => {
      const { accept, stop } = createDispatcher<Call, unknown>({
        flow,
        clock,
        handle: calls => answerAll(calls.map(received)),
        settle(call, handlerResult) {
          call.frame.unsettled -= 1
          if (call.frame.unsettled === 0) release()
          settle(call, handlerResult)
        },
        requeue,
        expired: isExpired,
      })
      return {
        accept(frame) {
          closeFrame(frame)
          frame.calls.forEach(accept)
        },
        stop,
      }
    })
  }

  function requeue(calls: Call[]): void {
    const waiting = calls.filter(call => open.has(call))
    if (waiting.length === 0) return
    const frame = emptyFrame(Math.min(...waiting.map(call => call.frame.readySince)))
    for (const call of waiting) addToFrame(call, frame)
    queue.requeue([frame])
  }

  /** Calls that a server has begun may still be answered within the grace; the others are rejected at once. */
  async function closeQueue(graceMs?: number): Promise<void> {
    closed = true
    for (const call of queue.clear().flatMap(frame => frame.calls)) fail(call, unavailable(call))
    await queue.stopConsumers(graceMs)
    for (const call of open) fail(call, unavailable(call))
  }

  const unavailable = (call: Call): Unavailable => new Unavailable(`closed before ${name} answered ${call.id}`)

  return { request, serve, depth: () => ({ ...queue.length(), dead: 0, brokerName: null }), close: closeQueue }
}

const emptyFrame = (readySince: number): Frame => ({ calls: [], open: 0, unsettled: 0, readySince })
