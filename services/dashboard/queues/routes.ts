// GET /queues, GET /queues/{queue}/dead, GET /queues/{queue}/dead/{id}, POST /queues/{queue}/dead/requeue|drop {ids | all: true}: the
// broker's queues, and the messages that died in them. For operators only: a queue carries the messages of all companies.
import type { DeadLetters } from '../../../infra/broker/broker.ts'
import { isQueue, isWorkQueue, QUEUES, type Queue } from '../../../infra/broker/topology.ts'
import type { AdminRouteRequest } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { notFound, validationProblem } from '../request-input.ts'
import { createReadDepth } from './depth.ts'
import { type DeadChoice, deadChoice, type QueueAnswer } from './schemas.ts'
import { deadLetterView, MAX_BODY_BYTES } from './view.ts'

export const addQueueRoutes: AddRoutes = (router, { broker, clock, readBody, readPageOf, withAudit }) => {
  const readDepth = createReadDepth({ broker, clock })

  async function queueView(queue: Queue): Promise<QueueAnswer> {
    const { brokerName: broker_name, ready, oldestMs: oldest_ms, consumers, dead } = await readDepth(queue)
    return { queue, broker_name, ready, oldest_ms, consumers, dead }
  }

  function requireQueue({ params: { queue = '' } }: AdminRouteRequest): Queue {
    if (!isQueue(queue)) throw notFound('queue')
    return queue
  }

  const lettersOf = (queue: Queue): DeadLetters => (isWorkQueue(queue) ? broker.dead(queue) : NO_LETTERS)

  router.get('/queues', async ctx => {
    ctx.body = await Promise.all(QUEUES.map(queueView))
  })

  router.get('/queues/:queue/dead', async ctx => {
    const letters = lettersOf(requireQueue(ctx))
    ctx.body = await readPageOf(ctx, {
      read: (after, limit) => letters.list(limit, after),
      positionOf: ({ position }) => position,
      show: letter => deadLetterView(letter, MAX_BODY_BYTES.inList),
    })
  })

  router.get('/queues/:queue/dead/:id', async ctx => {
    const letter = await lettersOf(requireQueue(ctx)).get(ctx.params.id ?? '')
    if (!letter) throw notFound('dead letter')
    ctx.body = deadLetterView(letter, MAX_BODY_BYTES.alone)
  })

  router.post('/queues/:queue/dead/requeue', async ctx => {
    const queue = requireQueue(ctx)
    const chosen = readChoice(await readBody(ctx, deadChoice))
    const requeued = await withAudit<number>(ctx, () => ({
      action: 'dead_letters.requeue',
      target: queue,
      company_id: null,
      before: null,
      after: recordOf(chosen),
      perform: () => lettersOf(queue).requeue(chosen),
      recordResult: count => ({ ...recordOf(chosen), requeued: count }),
    }))
    ctx.body = { requeued }
  })

  router.post('/queues/:queue/dead/drop', async ctx => {
    const queue = requireQueue(ctx)
    const chosen = readChoice(await readBody(ctx, deadChoice))
    const dropped = await withAudit<number>(ctx, () => ({
      action: 'dead_letters.drop',
      target: queue,
      company_id: null,
      before: null,
      after: recordOf(chosen),
      perform: () => lettersOf(queue).drop(chosen),
      recordResult: count => ({ ...recordOf(chosen), dropped: count }),
    }))
    ctx.body = { dropped }
  })
}

function readChoice({ ids, all }: DeadChoice): readonly string[] | 'all' {
  if ((ids === undefined) === (all === undefined))
    throw validationProblem([{ path: '', message: 'must be {ids} or {"all": true}' }])
  return ids ?? 'all'
}

const recordOf = (chosen: readonly string[] | 'all') => (chosen === 'all' ? { all: true } : { ids: chosen })

/** Of a call queue. */
const NO_LETTERS: DeadLetters = {
  list: async () => [],
  get: async () => null,
  requeue: async () => 0,
  drop: async () => 0,
}
