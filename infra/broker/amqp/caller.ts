// The asking side of calls. In: requests. Out: frames, each with the calls of one tick, and for each request its answer. Answers come
// by RabbitMQ's direct reply-to: no reply queue is declared, and they reach only the channel that sent the call.
import type { Buffer } from 'node:buffer'
import type { Message as AmqpMessage, Channel, ConsumeMessage, Options } from 'amqplib'
import { NotBegun, Unavailable } from '../../unavailable.ts'
import { CallFailed, CallTimeout, type Message } from '../broker.ts'
import { type AmqpChannelDeps, createRecoveringChannel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'
import { answersIn, callJson, callsIn, encodeFrame } from './frames.ts'

export interface Caller {
  ready(): boolean
  /** Resolves once it is ready, at once while it is; rejects when it is closed before. */
  whenReady(): Promise<void>
  request(queue: string, message: Message, budgetMs: number): Promise<unknown>
  /** Sends a transient message without a confirm: answers, and forwarded calls. False when it cannot be sent. */
  post(queue: string, content: Buffer, options?: PostOptions): boolean
  /** Rejects every request that waits for an answer. */
  rejectPending(why: string): void
  close(): Promise<void>
}

export type PostOptions = Pick<Options.Publish, 'replyTo' | 'expiration' | 'mandatory'>

export interface CallerOptions extends AmqpChannelDeps {
  /** The most calls in one frame. */
  maxCallsPerFrame: number
  deadlines: Deadlines
  /** Called when RabbitMQ returns a frame because there is no such queue. */
  onMissing: (queue: string) => void
}

interface PendingCall {
  resolve: (value: unknown) => void
  reject: (error: Error) => void
  cancel: () => void
}

interface Draft {
  queue: string
  numbers: number[]
  entries: string[]
  maxBudgetMs: number
}

const REPLY_TO = 'amq.rabbitmq.reply-to'

export function createCaller(options: CallerOptions): Caller {
  const { connection, log, maxCallsPerFrame, deadlines, onMissing } = options
  const waiting = new Map<number, PendingCall>()
  const drafts = new Map<string, Draft>()
  let lastCallNumber = 0
  let scheduled = false

  const channel = createRecoveringChannel<Channel>(options, {
    name: 'calls',
    open: model => model.createChannel(),
    async prepare(opened) {
      opened.on('return', onReturned)
      await opened.consume(REPLY_TO, message => (message ? onAnswers(message) : channel.reopen(opened)), {
        noAck: true,
      })
    },
    lost: () => rejectPending('the connection to RabbitMQ was lost'),
  })

  function settle(n: number, settleWith: (call: PendingCall) => void): void {
    const call = waiting.get(n)
    if (!call) return
    waiting.delete(n)
    call.cancel()
    settleWith(call)
  }

  function rejectPending(why: string): void {
    drafts.clear()
    for (const n of [...waiting.keys()]) settle(n, call => call.reject(new Unavailable(why)))
  }

  function onAnswers({ content }: ConsumeMessage): void {
    try {
      for (const answer of answersIn(content))
        settle(answer.n, call => {
          if ('failed' in answer) call.reject(new CallFailed(answer.failed))
          else call.resolve(answer.value)
        })
    } catch (error) {
      log.warn({ err: String(error) }, 'broker.unreadable_answer')
    }
  }

  /** RabbitMQ returns the whole frame, so the calls to reject are read from it. */
  function onReturned({ content, fields }: AmqpMessage): void {
    for (const { n } of callsIn(content))
      settle(n, call => call.reject(new Unavailable(`no queue ${fields.routingKey}`)))
    onMissing(fields.routingKey)
  }

  function flush(): void {
    scheduled = false
    const ready = [...drafts.values()]
    drafts.clear()
    for (const draft of ready) send(draft)
  }

  function send({ queue, numbers, entries, maxBudgetMs }: Draft): void {
    if (post(queue, encodeFrame(entries), { replyTo: REPLY_TO, expiration: maxBudgetMs, mandatory: true })) return
    for (const n of numbers) settle(n, call => call.reject(new Unavailable('RabbitMQ is not connected or blocked')))
  }

  function post(queue: string, content: Buffer, options: PostOptions = {}): boolean {
    const open = channel.ready()
    if (!open || connection.blocked()) return false
    try {
      open.sendToQueue(queue, content, options)
      return true
    } catch (error) {
      log.warn({ queue, err: String(error) }, 'broker.not_sent')
      return false
    }
  }

  /** RabbitMQ drops a frame when its longest budget is over, so only calls with similar budgets share a frame. */
  function draftFor(queue: string, budgetMs: number): Draft {
    const key = `${Math.ceil(Math.log2(budgetMs) * 4)} ${queue}`
    const known = drafts.get(key)
    if (known && known.entries.length < maxCallsPerFrame) return known
    if (known) send(known)
    const draft = { queue, numbers: [], entries: [], maxBudgetMs: 0 }
    drafts.set(key, draft)
    return draft
  }

  return {
    ready: () => channel.ready() !== undefined,
    whenReady: channel.whenReady,
    post,
    rejectPending,
    request: (queue, { id, body, trace }, budgetMs) =>
      new Promise((resolve, reject) => {
        if (!channel.ready() || connection.blocked()) throw new NotBegun('RabbitMQ is not connected or blocked')
        if (!(budgetMs > 0)) throw new CallTimeout('no time left')
        lastCallNumber += 1
        const n = lastCallNumber
        const json = callJson({ n, id, body, budgetMs, trace })
        const draft = draftFor(queue, budgetMs)
        draft.entries.push(json)
        draft.numbers.push(n)
        draft.maxBudgetMs = Math.max(draft.maxBudgetMs, Math.ceil(budgetMs))
        const timedOut = () => settle(n, call => call.reject(new CallTimeout(`no answer within ${budgetMs} ms`)))
        waiting.set(n, { resolve, reject, cancel: deadlines.after(budgetMs, timedOut) })
        if (scheduled) return
        scheduled = true
        setImmediate(flush)
      }),
    async close() {
      rejectPending('the broker was closed')
      await channel.close()
    },
  }
}
