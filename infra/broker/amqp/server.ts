// The answering side of calls. In: frames of calls. Out: one message of answers per requester and batch. A frame is settled when
// each of its calls is answered, too old, or handed on to another server.
import type { Flow, Message } from '../broker.ts'
import { dispatcher, type Ended } from '../dispatch.ts'
import type { CallQueue } from '../topology.ts'
import type { Caller } from './caller.ts'
import type { Surroundings } from './channel.ts'
import { type Answer, answerJson, type Call, callJson, callsIn, frame } from './frames.ts'
import { declare, type QueueNames, type Queues } from './queues.ts'
import { type Delivery, type Hand, type Subscription, subscription } from './subscription.ts'

export interface ServerOptions extends Surroundings {
  names: QueueNames
  queues: Queues
  caller: Pick<Caller, 'post'>
}

interface Frame extends Delivery {
  replyTo: string
  unsettled: number
}

interface Waiting {
  call: Call
  from: Frame
  /** On the monotonic clock: a budget counts from when the frame came, as the requester's clock is not ours. */
  dueAt: number
}

export function callServer(
  options: ServerOptions,
  queue: CallQueue,
  answer: (waiting: Message[]) => Promise<unknown[]>,
  flow: Flow,
): Subscription {
  const { names, queues, caller, clock, log } = options
  const answers = new Map<string, string[]>()

  function reply({ replyTo }: Frame, given: Answer): void {
    // Sent when the batch is through: its other answers are settled in this very turn.
    if (answers.size === 0) queueMicrotask(sendAnswers)
    const forRequester = answers.get(replyTo) ?? []
    forRequester.push(answerJson(given))
    answers.set(replyTo, forRequester)
  }

  function sendAnswers(): void {
    for (const [replyTo, parts] of answers)
      if (!caller.post(replyTo, frame(parts))) log.warn({ queue, answers: parts.length }, 'broker.answers_lost')
    answers.clear()
  }

  function settled({ from }: Waiting, hand: Hand): void {
    from.unsettled -= 1
    if (from.unsettled === 0) hand.ack(from)
  }

  function settle(waiting: Waiting, ended: Ended<unknown>, hand: Hand): void {
    const { call, from } = waiting
    if (ended.kind === 'failed') log.error({ queue, id: call.id, err: ended.error }, 'call.failed')
    if (ended.kind === 'failed') reply(from, { n: call.n, failed: ended.reason })
    if (ended.kind === 'returned') reply(from, { n: call.n, value: ended.result })
    settled(waiting, hand)
  }

  /** Calls go on one by one, not as the frame they came in: the others of it may be answered already. */
  function handOn(waiting: Waiting, hand: Hand): void {
    const budgetMs = Math.ceil(waiting.dueAt - performance.now())
    const { call, from } = waiting
    const posting = { replyTo: from.replyTo, expiration: budgetMs }
    const sent = budgetMs <= 0 || caller.post(names.queue(queue), frame([callJson({ ...call, budgetMs })]), posting)
    if (sent) settled(waiting, hand)
  }

  return subscription<Waiting>({
    ...options,
    queue: names.queue(queue),
    flow,
    declareQueue: channel => declare(channel, [queues.calls(queue, channel)]),
    dispatch: hand =>
      dispatcher<Waiting, unknown>({
        flow,
        clock,
        handle: waiting => answer(waiting.map(({ call: { id, body } }) => ({ id, body }))),
        settle: (waiting, ended) => settle(waiting, ended, hand),
        handBack(all) {
          for (const waiting of all) handOn(waiting, hand)
        },
        expired: ({ dueAt }) => performance.now() > dueAt,
      }),
    unpack(delivery, hand) {
      const calls = readable(delivery)
      if (calls.length === 0) hand.ack(delivery)
      const from = { ...delivery, replyTo: String(delivery.message.properties.replyTo), unsettled: calls.length }
      const now = performance.now()
      return calls.map(call => ({ call, from, dueAt: now + call.budgetMs }))
    },
  })

  function readable({ message }: Delivery): Call[] {
    try {
      return callsIn(message.content)
    } catch (error) {
      log.warn({ queue, err: String(error) }, 'broker.unreadable_call')
      return []
    }
  }
}
