import type { Waited } from '../engine-watch.ts'
import { aroundDeadLetters, type Broker } from './broker.ts'

/** The same broker, for work that a caller waits for. */
export const brokerUnlessAway = (broker: Broker, { unlessAway }: Pick<Waited, 'unlessAway'>): Broker => ({
  ...broker,
  publish: (queue, message) => unlessAway(() => broker.publish(queue, message)),
  request: (queue, message, budgetMs) => unlessAway(() => broker.request(queue, message, budgetMs)),
  depth: queue => unlessAway(() => broker.depth(queue)),
  dead: queue => aroundDeadLetters(broker.dead(queue), unlessAway),
  roundTrip: budgetMs => unlessAway(() => broker.roundTrip(budgetMs)),
})
