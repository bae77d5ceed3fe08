// Statistics in the OpenAPI document.
import { z } from 'zod'
import { keyMode } from '../../domain/openapi/shared-schemas.ts'
import { type StatsRowAnswer, statsPage } from '../stats/schemas.ts'
import { adminOperation, ok, query, timeQuery } from './admin-operation.ts'

const bucket = z.enum(['hour', 'day']).meta({ id: 'StatsBucket', description: 'How long a row is.' })
const dimension = z
  .enum(['channel', 'country', 'provider'])
  .meta({ id: 'StatsDimension', description: 'How rows are split.' })

const example: StatsRowAnswer = {
  bucket: '2030-01-01T12:00:00.000Z',
  channel: 'sms',
  started: 120,
  sent: 131,
  queued: 2,
  without_receipt: 9,
  delivered: 118,
  messages_failed: 5,
  approved: 97,
  failed: 4,
  expired: 19,
  refused: 2,
  conversion: 0.81,
  seconds_to_approve_p50: 23,
}

export const statsOperations = [
  adminOperation({
    id: 'getStats',
    route: ['get', '/apps/{id}/stats'],
    summary: 'Count what happened',
    description: 'By hour or day, and by channel, country or provider. All rows are in one page.',
    parameters: [
      timeQuery('since', 'From this time on; the last 24 hours or 30 days without it.'),
      timeQuery('until', 'Before this time; now without it.'),
      query('bucket', 'The length of a row; `hour` without it.', bucket),
      query('by', 'Splits each row.', dimension),
      query('mode', 'Only this mode; both without it.', keyMode),
    ],
    answers: [ok(statsPage, 'The rows.', { items: [example], next_cursor: null })],
  }),
]
