// The broker's queues, and the messages that died in them. For operators only: a queue carries the messages of all companies.
import type { Broker, DeadLetters } from '../../../infra/broker/broker.ts'
import { readDepth } from '../../../infra/broker/depth.ts'
import { isQueue, isWorkQueue, QUEUES, type Queue } from '../../../infra/broker/topology.ts'
import { CHANNELS } from '../../../machines/channels.ts'
import { type Backlog, type Owed, readBacklog } from '../../domain/backlog/backlog.ts'
import { channelQueue } from '../../domain/verifications/queue-messages.ts'
import type { AdminRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { ok, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { pageQuery } from '../pages.ts'
import { notFound, validationProblem } from '../request-input.ts'
import {
  type DeadChoice,
  type DeadLetterAnswer,
  deadChoice,
  deadLetter,
  deadPage,
  dropped,
  type QueueAnswer,
  queues,
  requeued,
} from './schemas.ts'
import { deadLetterView, MAX_BODY_BYTES } from './view.ts'

const queueExample: QueueAnswer = {
  queue: 'otp.reports',
  broker_name: 'countersign.v1.otp.reports',
  ready: 0,
  oldest_ms: null,
  consumers: 2,
  owed: null,
  owed_oldest_seconds: null,
  dead: 1,
}

const letterExample: DeadLetterAnswer = {
  id: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55',
  at: '2030-01-01T12:00:00.000Z',
  reason: 'the message cannot be read',
  attempts: 1,
  body: { type: 'delivery.reported' },
}

const body = { schema: deadChoice, example: { ids: [letterExample.id] } }

export const queueOperations = [
  operation({
    id: 'listQueues',
    request: 'GET /queues',
    role: 'operator',
    summary: 'List the queues',
    description: 'How many messages wait in each, for how long, and how many are dead.',
    answers: [ok(queues, 'The queues.', [queueExample])],
    handle: async (_, { broker, store, clock }) => {
      // Together, so that a broker that is away is told at once.
      const [backlog, depths] = await Promise.all([
        readBacklog({ store, broker, clock }),
        Promise.all(QUEUES.map(async queue => ({ queue, ...(await readDepth(broker, queue, clock)) }))),
      ])
      return depths.map(({ queue, brokerName: broker_name, ready, oldestMs: oldest_ms, consumers, dead }) => {
        const { owed = null, oldest_seconds = null } = owedBehind(queue, backlog) ?? {}
        return { queue, broker_name, ready, oldest_ms, consumers, owed, owed_oldest_seconds: oldest_seconds, dead }
      })
    },
  }),
  operation({
    id: 'listDeadLetters',
    request: 'GET /queues/{queue}/dead',
    role: 'operator',
    summary: 'List dead letters',
    description: 'The messages of a queue that could not be handled. Sealed parts stay sealed.',
    query: pageQuery,
    answers: [page(deadPage, 'A page of dead letters.', letterExample)],
    handle: async ({ ctx, params, query }, { broker, readPageOf }) => {
      const letters = lettersOf(broker, requireQueue(params))
      return readPageOf(
        ctx,
        {
          read: (after, limit) => letters.list(limit, after),
          positionOf: ({ position }) => position,
          show: letter => deadLetterView(letter, MAX_BODY_BYTES.inList),
        },
        query,
      )
    },
  }),
  operation({
    id: 'getDeadLetter',
    request: 'GET /queues/{queue}/dead/{id}',
    role: 'operator',
    summary: 'Look a dead letter up',
    description: 'Sealed parts stay sealed.',
    answers: [ok(deadLetter, 'The message.', letterExample)],
    handle: async ({ params }, { broker }) => {
      const letter = await lettersOf(broker, requireQueue(params)).get(params.id)
      if (!letter) throw notFound('dead letter')
      return deadLetterView(letter, MAX_BODY_BYTES.alone)
    },
  }),
  operation({
    id: 'requeueDeadLetters',
    request: 'POST /queues/{queue}/dead/requeue',
    role: 'operator',
    summary: 'Try dead letters again',
    description: 'They go back to their queue.',
    body,
    answers: [ok(requeued, 'How many they are.', { requeued: 1 })],
    handle: async (call, admin) => ({ requeued: await changeLetters('requeue', 'requeued', call, admin) }),
  }),
  operation({
    id: 'dropDeadLetters',
    request: 'POST /queues/{queue}/dead/drop',
    role: 'operator',
    summary: 'Drop dead letters',
    description: 'They are gone for good.',
    body,
    answers: [ok(dropped, 'How many they are.', { dropped: 1 })],
    handle: async (call, admin) => ({ dropped: await changeLetters('drop', 'dropped', call, admin) }),
  }),
]

function owedBehind(queue: Queue, { channels, events }: Backlog): Owed | undefined {
  if (queue === 'webhook.deliver') return events
  const channel = CHANNELS.find(one => channelQueue(one) === queue)
  return channel && channels[channel]
}

/** Out: how many they were, also in the audit log. */
async function changeLetters(
  verb: 'requeue' | 'drop',
  counted: 'requeued' | 'dropped',
  { ctx, params, body }: { ctx: AdminRequest; params: { queue: string }; body: DeadChoice },
  { broker, withAudit }: Pick<AdminDeps, 'broker' | 'withAudit'>,
): Promise<number> {
  const queue = requireQueue(params)
  const chosen = readChoice(body)
  return withAudit<number>(ctx, () => ({
    action: verb === 'requeue' ? 'dead_letters.requeue' : 'dead_letters.drop',
    target: queue,
    company_id: null,
    before: null,
    after: recordOf(chosen),
    perform: () => lettersOf(broker, queue)[verb](chosen),
    recordResult: count => ({ ...recordOf(chosen), [counted]: count }),
  }))
}

function requireQueue({ queue }: { queue: string }): Queue {
  if (!isQueue(queue)) throw notFound('queue')
  return queue
}

const lettersOf = (broker: Pick<Broker, 'dead'>, queue: Queue): DeadLetters =>
  isWorkQueue(queue) ? broker.dead(queue) : NO_LETTERS

function readChoice({ ids, all }: DeadChoice): readonly string[] | 'all' {
  if ((ids === undefined) === (all === undefined))
    throw validationProblem([{ path: '', message: 'must be {ids} or {"all": true}' }])
  return ids ?? 'all'
}

const recordOf = (chosen: readonly string[] | 'all') => (chosen === 'all' ? { all: true } : { ids: chosen })

/** A call queue has none. */
const NO_LETTERS: DeadLetters = {
  list: async () => [],
  get: async () => null,
  requeue: async () => 0,
  drop: async () => 0,
}
