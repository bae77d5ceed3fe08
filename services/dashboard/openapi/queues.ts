// Queues and dead letters in the OpenAPI document.
import {
  type DeadLetterAnswer,
  deadChoice,
  deadLetter,
  deadPage,
  dropped,
  type QueueAnswer,
  queues,
  requeued,
} from '../queues/schemas.ts'
import { adminOperation, ok, PAGE } from './admin-operation.ts'

const queueExample: QueueAnswer = {
  queue: 'otp.reports',
  broker_name: 'countersign.v1.otp.reports',
  ready: 0,
  oldest_ms: null,
  consumers: 2,
  dead: 1,
}

const deadExample: DeadLetterAnswer = {
  id: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55',
  at: '2030-01-01T12:00:00.000Z',
  reason: 'the message cannot be read',
  attempts: 1,
  body: { type: 'delivery.reported' },
}

const choice = { ids: [deadExample.id] }

export const queueOperations = [
  adminOperation({
    id: 'listQueues',
    route: ['get', '/queues'],
    summary: 'List the queues',
    description: 'How many messages wait in each, for how long, and how many are dead.',
    answers: [ok(queues, 'The queues.', [queueExample])],
  }),
  adminOperation({
    id: 'listDeadLetters',
    route: ['get', '/queues/{queue}/dead'],
    summary: 'List dead letters',
    description: 'The messages of a queue that could not be handled. Sealed parts stay sealed.',
    parameters: PAGE,
    answers: [ok(deadPage, 'A page of dead letters.', { items: [deadExample], next_cursor: null })],
  }),
  adminOperation({
    id: 'getDeadLetter',
    route: ['get', '/queues/{queue}/dead/{id}'],
    summary: 'Look a dead letter up',
    description: 'Sealed parts stay sealed.',
    answers: [ok(deadLetter, 'The message.', deadExample)],
  }),
  adminOperation({
    id: 'requeueDeadLetters',
    route: ['post', '/queues/{queue}/dead/requeue'],
    summary: 'Try dead letters again',
    description: 'They go back to their queue.',
    request: { schema: deadChoice, example: choice },
    answers: [ok(requeued, 'How many they are.', { requeued: 1 })],
  }),
  adminOperation({
    id: 'dropDeadLetters',
    route: ['post', '/queues/{queue}/dead/drop'],
    summary: 'Drop dead letters',
    description: 'They are gone for good.',
    request: { schema: deadChoice, example: choice },
    answers: [ok(dropped, 'How many they are.', { dropped: 1 })],
  }),
]
