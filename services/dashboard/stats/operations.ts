// Statistics: how many verifications were started, approved and so on, by hour or day, and by channel, country or provider.
import { z } from 'zod'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { DAY_MS, HOUR_MS } from '../../../infra/time.ts'
import { MODES, type Mode } from '../../../machines/otp.ts'
import { keyMode } from '../../domain/openapi/shared-schemas.ts'
import { STATS_DAY_RETENTION_MS, STATS_HOUR_RETENTION_MS } from '../../domain/retention.ts'
import { DIMENSIONS } from '../../domain/stats/contribution.ts'
import { dayId, hourId, PROGRESS_ID, type StatsDoc, type StatsStore } from '../../domain/stats/documents.ts'
import { page } from '../answers.ts'
import { operation } from '../operation.ts'
import { NO_LIMIT, wholeListFields } from '../pages.ts'
import { validationProblem } from '../request-input.ts'
import { timeQuery } from '../time-query.ts'
import { bucketStart, placeOf, type RowPlace, statsRows } from './rows.ts'
import { type StatsRowAnswer, statsPage } from './schemas.ts'

const query = z.strictObject({
  since: timeQuery('From this time on; the last 24 hours or 30 days without it.'),
  until: timeQuery('Before this time; now without it.'),
  bucket: z
    .enum(['hour', 'day'], { error: 'must be hour or day' })
    .meta({ id: 'StatsBucket', description: 'How long a row is.' })
    .default('hour')
    .meta({ description: 'The length of a row; `hour` without it.' }),
  by: z
    .enum(DIMENSIONS, { error: `must be ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(DIMENSIONS)}` })
    .meta({ id: 'StatsDimension', description: 'How rows are split.' })
    .optional()
    .meta({ description: 'Splits each row.' }),
  mode: keyMode.optional().meta({ description: 'Only this mode; both without it.' }),
  ...wholeListFields,
})

interface BucketKind {
  ms: number
  /** How many a query without `since` shows. */
  usual: number
  max: number
  /** Less, because each has some 60 rows: a large answer must not keep the process from other work. */
  maxByCountry: number
  keptMs: number
}

const BUCKETS: Readonly<Record<'hour' | 'day', BucketKind>> = {
  hour: { ms: HOUR_MS, usual: 24, max: 31 * 24, maxByCountry: 7 * 24, keptMs: STATS_HOUR_RETENTION_MS },
  day: { ms: DAY_MS, usual: 30, max: 400, maxByCountry: 100, keptMs: STATS_DAY_RETENTION_MS },
}

/** Buckets from the first one to the last one, which is not included. */
interface Range {
  from: number
  to: number
}

export const statsOperations = [
  operation({
    id: 'getStats',
    request: 'GET /apps/{id}/stats',
    role: 'viewer',
    summary: 'Count what happened',
    description:
      'By hour or day, and by channel, country or provider. All rows are in one page, unless they are more than 1 MiB.',
    query,
    answers: [
      page(statsPage, 'The rows.', {
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
        spend_micros: 5_240_000,
        conversion: 0.81,
        seconds_to_approve_p50: 23,
      }),
    ],
    handle: async ({ ctx, app, query: { bucket, by, mode, cursor, ...times } }, { store, clock, readPageOf }) => {
      const kind = BUCKETS[bucket]
      const max = by === 'country' ? kind.maxByCountry : kind.max
      const range = rangeOf(kind, `${bucket}s${by === 'country' ? ' by country' : ''}`, max, times, clock.now())
      const modes = mode === undefined ? MODES : [mode]
      const docs = (await Promise.all(modes.map(one => load(store, bucket, app._id, one, range)))).flat()
      let rows: Generator<StatsRowAnswer> | undefined
      const source = {
        async read(last: string | undefined, limit: number) {
          // The cast is safe: a cursor is sealed.
          const after = last === undefined ? undefined : (JSON.parse(last) as RowPlace)
          rows ??= statsRows(docs, { by, after, bucketMs: kind.ms, ...range })
          return takeRows(rows, limit)
        },
        positionOf: (row: StatsRowAnswer) => JSON.stringify(placeOf(row, by)),
        show: (row: StatsRowAnswer) => row,
      }
      return readPageOf(ctx, source, { limit: NO_LIMIT, cursor })
    },
  }),
]

function takeRows(rows: Generator<StatsRowAnswer>, limit: number): StatsRowAnswer[] {
  const taken: StatsRowAnswer[] = []
  while (taken.length < limit) {
    const { done, value } = rows.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

function rangeOf(
  kind: BucketKind,
  what: string,
  max: number,
  { since, until }: { since?: number | undefined; until?: number | undefined },
  now: number,
): Range {
  // The bucket that begins at `until` is not included. The last one is that of now.
  const last = until === undefined || until > now ? now : until - 1
  const to = bucketStart(last, kind.ms) + kind.ms
  const from = since === undefined ? to - kind.usual * kind.ms : bucketStart(since, kind.ms)
  if (from >= to) throw validationProblem([{ path: 'until', message: 'must be later than since' }])
  const count = (to - from) / kind.ms
  if (count > max)
    throw validationProblem([
      {
        path: 'since',
        message: `asks for ${count} ${what}, and at most ${max} are shown at a time`,
      },
    ])
  if (since !== undefined && since < now - kind.keptMs)
    throw validationProblem([
      { path: 'since', message: `is too long ago: ${what} are kept for ${kind.keptMs / DAY_MS} days` },
    ])
  return { from, to }
}

async function load(
  store: StatsStore,
  bucket: 'hour' | 'day',
  app_id: string,
  mode: Mode,
  { from, to }: Range,
): Promise<StatsDoc[]> {
  const hours = (range: Range) => find(store.docs('stats_hours'), hourId, app_id, mode, range)
  if (bucket === 'hour') return hours({ from, to })
  // The latest days have no documents yet and are summed up from their hours.
  const nextDay = (await getOne(store.docs('stats_progress'), PROGRESS_ID))?.next_day ?? from
  const split = Math.min(Math.max(nextDay, from), to)
  const [summed, latest] = await Promise.all([
    find(store.docs('stats_days'), dayId, app_id, mode, { from, to: split }),
    hours({ from: split, to }),
  ])
  return [...summed, ...latest]
}

const find = (
  docs: Docs<StatsDoc>,
  idOf: typeof hourId,
  app_id: string,
  mode: Mode,
  { from, to }: Range,
): Promise<StatsDoc[]> =>
  docs.find(
    { _id: { $gte: idOf(app_id, mode, from), $lt: idOf(app_id, mode, to) } },
    { sort: { _id: 1 }, limit: (to - from) / HOUR_MS },
  )
