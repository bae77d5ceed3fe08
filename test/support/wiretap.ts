// Hears everything that travels through a broker, in both directions, as text. It decorates the port from outside.
import type { Broker } from '../../infra/broker/broker.ts'

export interface Wiretap {
  on(broker: Broker): Broker
  /** Everything heard so far, one message a line. */
  heard(): string[]
}

export function wiretap(): Wiretap {
  const lines: string[] = []
  const note = (...parts: unknown[]): void => void lines.push(JSON.stringify(parts))
  return {
    heard: () => lines,
    on: broker => ({
      ...broker,
      publish(queue, message) {
        note('publish', queue, message)
        return broker.publish(queue, message)
      },
      async request(queue, message, budgetMs) {
        note('request', queue, message)
        const reply = await broker.request(queue, message, budgetMs)
        note('reply', queue, reply)
        return reply
      },
    }),
  }
}
