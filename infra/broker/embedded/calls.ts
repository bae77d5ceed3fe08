// A call queue in memory: request → serve. The calls of one turn of the event loop travel in one frame, as they do on RabbitMQ,
// so that a busy server is handed many at once and its prefetch means the same.
import { setImmediate } from 'node:timers'
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import { CallFailed, CallTimeout, type Consumer, type Depth, type Flow, type Message } from '../broker.ts'
import { dispatcher, type Ended } from '../dispatch.ts'
import { sharedQueue } from './queue.ts'
import type { Log } from './work.ts'

export interface MemoryCalls {
  request(message: Message, budgetMs: number): Promise<unknown>
  serve(answer: (waiting: Message[]) => Promise<unknown[]>, flow: Flow): Consumer
  depth(): Depth
  close(graceMs?: number): Promise<void>
}

interface Frame {
  calls: Call[]
  /** Calls whose caller still waits. */
  open: number
  /** Calls the server it was given to is not through with. */
  unsettled: number
}

interface Call {
  readonly id: string
  /** JSON. */
  readonly body: string
  readonly deadline: number
  frame: Frame
  cancelTimer(): void
  resolve(answer: unknown): void
  reject(error: Error): void
}

export function callQueue(options: { queue: string; clock: Clock; log?: Log | undefined }): MemoryCalls {
  const { queue: name, clock, log } = options
  const queue = sharedQueue<Frame>()
  /** Calls whose caller still waits. */
  const open = new Set<Call>()
  let gathering: Frame | undefined
  let closed = false

  function gather(): Frame {
    if (gathering) return gathering
    const frame = emptyFrame()
    gathering = frame
    setImmediate(() => seal(frame))
    queue.push(frame)
    return frame
  }

  function seal(frame: Frame): void {
    if (gathering === frame) gathering = undefined
  }

  function enter(call: Call, frame: Frame): void {
    call.frame = frame
    frame.calls.push(call)
    frame.open += 1
    frame.unsettled += 1
  }

  /** The caller has its answer, or its error. Whatever comes later means nothing. */
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
    dropSpentFrames()
  }

  /** With nobody serving, frames whose callers are gone would pile up. */
  function dropSpentFrames(): void {
    for (let frame = queue.peek(); frame?.open === 0; frame = queue.peek()) {
      seal(frame)
      queue.shift()
    }
  }

  function settle(call: Call, ended: Ended<unknown>): void {
    if (ended.kind === 'expired') return // its timer tells the caller
    if (ended.kind === 'failed') {
      log?.error({ queue: name, id: call.id, err: ended.error }, 'call.failed')
      fail(call, new CallFailed(ended.reason))
    } else answer(call, ended.result)
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
      const frame = gather()
      const deadline = clock.now() + budgetMs
      const cancelTimer = clock.after(budgetMs, () => timeOut(call, budgetMs))
      const call: Call = { id: message.id, body, deadline, frame, cancelTimer, resolve, reject }
      enter(call, frame)
      open.add(call)
    })
  }

  function serve(answerAll: (waiting: Message[]) => Promise<unknown[]>, flow: Flow): Consumer {
    return queue.attach(flow.prefetch, free => {
      const { accept, stop } = dispatcher<Call, unknown>({
        flow,
        clock,
        handle: calls => answerAll(calls.map(({ id, body }) => ({ id, body: JSON.parse(body) }))),
        settle(call, ended) {
          call.frame.unsettled -= 1
          if (call.frame.unsettled === 0) free()
          settle(call, ended)
        },
        handBack,
        expired: call => !open.has(call) || clock.now() >= call.deadline,
      })
      return {
        accept(frame) {
          seal(frame)
          frame.calls.forEach(accept)
        },
        stop,
      }
    })
  }

  function handBack(calls: Call[]): void {
    const waiting = calls.filter(call => open.has(call))
    if (waiting.length === 0) return
    const frame = emptyFrame()
    for (const call of waiting) enter(call, frame)
    queue.giveBack([frame])
  }

  /** Calls a server has in hand may still be answered within the grace; the others are told at once. */
  async function shut(graceMs?: number): Promise<void> {
    closed = true
    for (const call of queue.clear().flatMap(frame => frame.calls)) fail(call, unavailable(call))
    await queue.stopConsumers(graceMs)
    for (const call of open) fail(call, unavailable(call))
  }

  const unavailable = (call: Call): Unavailable => new Unavailable(`closed before ${name} answered ${call.id}`)

  return { request, serve, depth: queue.depth, close: shut }
}

const emptyFrame = (): Frame => ({ calls: [], open: 0, unsettled: 0 })
