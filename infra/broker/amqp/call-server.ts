// The answering side of calls. In: frames of calls. Out: one message of answers per requester and batch. A frame is acknowledged when
// each of its calls is answered, past its budget, or forwarded to another server.
import { requestOf, traceIn, withTrace } from '../../trace.ts'
import type { Flow, ReceivedCall } from '../broker.ts'
import type { Deaths } from '../deaths.ts'
import { createDispatcher, type HandlerResult } from '../dispatcher.ts'
import type { CallQueue } from '../topology.ts'
import type { Caller } from './caller.ts'
import { type AmqpChannelDeps, withChannel } from './channel.ts'
import { metaOf } from './envelope.ts'
import { type Answer, answerJson, type Call, callJson, callsIn, encodeFrame } from './frames.ts'
import { declareCalls, type QueueNames, type Queues } from './queues.ts'
import {
  type Acknowledger,
  type AmqpDelivery,
  createSubscription,
  type Subscription,
  type SubscriptionOptions,
} from './subscription.ts'

export interface ServerOptions extends AmqpChannelDeps, Pick<SubscriptionOptions<unknown>, 'whenPublishing'> {
  names: QueueNames
  queues: Queues
  caller: Pick<Caller, 'post'>
  deaths: Pick<Deaths, 'record'>
}

interface Frame extends AmqpDelivery {
  replyTo: string
  unsettled: number
}

interface PendingCall {
  call: Call
  from: Frame
  /** Milliseconds of `performance.now()`. The budget counts from the arrival of the frame, because the requester's clock may differ. */
  dueAt: number
}

const isExpired = ({ dueAt }: PendingCall): boolean => performance.now() > dueAt

const received = (waiting: PendingCall): ReceivedCall => ({
  id: waiting.call.id,
  body: waiting.call.body,
  ...withTrace(traceIn(waiting.call.trace)),
  expired: () => isExpired(waiting),
})

export function createCallServer(
  options: ServerOptions,
  queue: CallQueue,
  answer: (waiting: ReceivedCall[]) => Promise<unknown[]>,
  flow: Flow,
): Subscription {
  const { names, queues, caller, deaths, connection, clock, log } = options
  const answers = new Map<string, string[]>()

  function reply({ replyTo }: Frame, given: Answer): void {
    // The other answers of the batch are settled in this same turn, so one message takes them all.
    if (answers.size === 0) queueMicrotask(sendAnswers)
    const forRequester = answers.get(replyTo) ?? []
    forRequester.push(answerJson(given))
    answers.set(replyTo, forRequester)
  }

  function sendAnswers(): void {
    for (const [replyTo, entries] of answers)
      if (!caller.post(replyTo, encodeFrame(entries)))
        log.warn({ queue, answers: entries.length }, 'broker.answers_lost')
    answers.clear()
  }

  function countSettled({ from }: PendingCall, acknowledger: Acknowledger): void {
    from.unsettled -= 1
    if (from.unsettled === 0) acknowledger.ack(from)
  }

  function settle(waiting: PendingCall, handlerResult: HandlerResult<unknown>, acknowledger: Acknowledger): void {
    const { call, from } = waiting
    if (handlerResult.kind === 'failed') {
      const request = requestOf({ trace: traceIn(call.trace) })
      log.error({ queue, id: call.id, ...request, err: handlerResult.error }, 'call.failed')
      reply(from, { n: call.n, failed: handlerResult.reason })
    }
    if (handlerResult.kind === 'returned') reply(from, { n: call.n, value: handlerResult.result })
    countSettled(waiting, acknowledger)
  }

  /** Calls are forwarded one by one, not as a frame: other calls of the frame may be answered already. */
  function forward(waiting: PendingCall, acknowledger: Acknowledger): void {
    const budgetMs = Math.ceil(waiting.dueAt - performance.now())
    const { call, from } = waiting
    const posting = { replyTo: from.replyTo, expiration: budgetMs }
    const sent =
      budgetMs <= 0 || caller.post(names.queue(queue), encodeFrame([callJson({ ...call, budgetMs })]), posting)
    if (sent) countSettled(waiting, acknowledger)
  }

  return createSubscription<PendingCall>({
    ...options,
    queue: names.queue(queue),
    flow,
    // On channels of their own: a refused declaration must not close the channel that is about to consume.
    declareQueue: channel => declareCalls(task => withChannel(connection, clock, task), queues.calls(queue, channel)),
    dispatch: acknowledger =>
      createDispatcher<PendingCall, unknown>({
        flow,
        clock,
        handle: waiting => answer(waiting.map(received)),
        settle: (waiting, handlerResult) => settle(waiting, handlerResult, acknowledger),
        requeue(all) {
          for (const waiting of all) forward(waiting, acknowledger)
        },
        expired: isExpired,
      }),
    unpack(delivery, acknowledger) {
      const calls = readCalls(delivery)
      if (calls.length === 0) acknowledger.ack(delivery)
      const from = { ...delivery, replyTo: String(delivery.message.properties.replyTo), unsettled: calls.length }
      const now = performance.now()
      return calls.map(call => ({ call, from, dueAt: now + call.budgetMs }))
    },
  })

  /** A frame that cannot be read is not kept: the calls in it, if any, have no callers by the time an operator looks. */
  function readCalls({ message }: AmqpDelivery): Call[] {
    try {
      return callsIn(message.content)
    } catch {
      const { id, attempt } = metaOf(message)
      deaths.record({ queue, id, attempt, reason: 'unreadable: not a frame of calls', cause: 'unreadable' })
      return []
    }
  }
}
