// In: a broker. Out: the same broker, with a span for each call and each message that is handled. A message's span continues the trace that
// came with it, and what the handler causes continues the span.
import type { Broker, DeliveredMessage, Message, ReceivedCall } from '../broker/broker.ts'
import type { Queue } from '../broker/topology.ts'
import type { Clock } from '../clock.ts'
import { isJsonObject } from '../json-object.ts'
import { type Attributes, inSpan, type Span, type Tracing } from './tracing.ts'

export function traceBroker(broker: Broker, tracing: Tracing, clock: Pick<Clock, 'now'>): Broker {
  /** Messages that are taken together share the work on the store: it is in the trace of the first that is recorded. */
  async function handleAll<M extends Message, R>(
    queue: Queue,
    waiting: M[],
    attributesOf: (message: M) => Attributes,
    handle: (waiting: M[]) => Promise<R[]>,
    describe: (result: R) => Attributes,
  ): Promise<R[]> {
    const spans = waiting.map(message => beginFor(queue, message, attributesOf(message)))
    const first = spans.find(span => span?.recorded)
    // A consumer may have been attached inside a span, which is not that of its messages.
    if (!first) return tracing.outside(() => handle(waiting))
    const continued = waiting.map((message, at) => continueIn(message, spans[at]))
    try {
      const results = await tracing.within(first, () => handle(continued))
      for (const [at, result] of results.entries()) spans[at]?.set(describe(result))
      return results
    } catch (error) {
      for (const span of spans) span?.fail(error)
      throw error
    } finally {
      for (const span of spans) span?.end()
    }
  }

  /** Work that no request has caused, such as a reminder of the sweeper, has no trace. */
  const beginFor = (queue: Queue, { id, body, trace }: Message, attributes: Attributes): Span | null =>
    trace?.traceparent
      ? tracing.begin(`process ${queue}`, {
          kind: 'consumer',
          parent: trace,
          attributes: { ...destination(queue), 'messaging.message.id': id, ...typeOf(body), ...attributes },
        })
      : null

  return {
    ...broker,
    request: (queue, message, budgetMs) =>
      message.trace?.traceparent
        ? inSpan(
            tracing,
            `call ${queue}`,
            { kind: 'client', parent: message.trace, attributes: { ...destination(queue), ...typeOf(message.body) } },
            span => broker.request(queue, continueIn(message, span), budgetMs),
          )
        : broker.request(queue, message, budgetMs),
    consume: (queue, handle, flow) =>
      broker.consume(
        queue,
        waiting =>
          handleAll(
            queue,
            waiting,
            ({ attempt, publishedAt }: DeliveredMessage) => ({
              'countersign.attempt': attempt,
              'countersign.waited_ms': Math.max(clock.now() - publishedAt, 0),
            }),
            handle,
            ({ kind }) => ({ 'countersign.outcome': kind }),
          ),
        flow,
      ),
    serve: (queue, answer, flow) =>
      broker.serve(
        queue,
        waiting =>
          handleAll<ReceivedCall, unknown>(
            queue,
            waiting,
            () => ({}),
            answer,
            () => ({}),
          ),
        flow,
      ),
  }
}

const destination = (queue: Queue): Attributes => ({ 'messaging.destination.name': queue })

/** The types of our own commands and reports. */
const typeOf = (body: unknown): Attributes =>
  isJsonObject(body) && typeof body.type === 'string' ? { 'countersign.type': body.type } : {}

const continueIn = <M extends Message>(message: M, span: Span | null | undefined): M =>
  span && message.trace ? { ...message, trace: span.trace(message.trace.request_id) } : message
