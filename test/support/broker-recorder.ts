// In: a broker. Out: the same broker, with every message and reply recorded as text.
import type { Broker } from '../../infra/broker/broker.ts'

export interface BrokerRecorder {
  wrap(broker: Broker): Broker
  /** The messages and replies so far, one per line. */
  messages(): string[]
}

export function createBrokerRecorder(): BrokerRecorder {
  const lines: string[] = []
  const record = (...parts: unknown[]): void => void lines.push(JSON.stringify(parts))
  return {
    messages: () => lines,
    wrap: broker => ({
      ...broker,
      publish(queue, message) {
        record('publish', queue, message)
        return broker.publish(queue, message)
      },
      async request(queue, message, budgetMs) {
        record('request', queue, message)
        const reply = await broker.request(queue, message, budgetMs)
        record('reply', queue, reply)
        return reply
      },
    }),
  }
}
