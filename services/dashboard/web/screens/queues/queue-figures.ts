// What the list of queues says of one. In: a queue of GET /queues. Out: words, and whether it needs an operator.
import type { Schemas } from '../../api/schema.ts'
import { formatCount, formatSeconds, NO_FIGURE } from '../../ui/figure-format.ts'

export type Queue = Schemas['Queue']

/** Null where the broker did not tell. */
export const countWords = (count: number | null): string => (count === null ? NO_FIGURE : formatCount(count))

/** RabbitMQ tells the age of no message. It is known by its name in RabbitMQ, which the queues of a process do not have. */
export function oldestWords({ oldest_ms, broker_name }: Pick<Queue, 'oldest_ms' | 'broker_name'>): string {
  if (oldest_ms !== null) return oldest_ms < 1_000 ? 'under 1 s' : formatSeconds(oldest_ms / 1_000)
  return broker_name === null ? 'none' : 'not known'
}

/** How long the oldest delivery or event has waited, wherever its message is. */
export function owedWords({ owed, owed_oldest_seconds }: Pick<Queue, 'owed' | 'owed_oldest_seconds'>): string {
  if (owed === null || owed_oldest_seconds === null) return NO_FIGURE
  return owed === 0 ? 'none' : formatSeconds(owed_oldest_seconds)
}

/** Messages wait and nothing takes them: the role that consumes the queue is not running. */
export const isStuck = ({ ready, consumers }: Pick<Queue, 'ready' | 'consumers'>): boolean =>
  (ready ?? 0) > 0 && consumers === 0

/** The role to start, by the name of the queue: `channel.sms` is consumed by `channel:sms`, the others by the part before the dot. */
export function consumingRole(queue: string): string {
  const [actor = '', work = ''] = queue.split('.')
  return actor === 'channel' ? `channel:${work}` : actor
}
