// Reads the statistics that the overview shows. In: the app, and what the viewer chose. Out: rows of the period and of the one before, and
// rows by the split. They are read again while the page is visible.
import { useRef } from 'preact/hooks'
import { DAY_MS } from '../../../../../infra/time.ts'
import { api, bodyOf, type CallOptions, type Schemas } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import { allPages } from '../../data/all-pages.ts'
import { useKept } from '../../data/use-kept.ts'
import { type Query, useQuery } from '../../data/use-query.ts'
import type { Choice } from './choice.ts'
import { type Period, periodOf } from './period.ts'
import type { Dimension } from './split.ts'

export type StatsRow = Schemas['StatsRow']

export const LIVE_MS = 10_000
/** A week of hours by country is an answer of megabytes, and a year of days is one of a hundred kilobytes: they are
 *  read again less often. */
const LARGE_LIVE_MS = 60_000

/** All of one choice. */
export interface Stats {
  choice: Choice
  period: Period
  /** One for each bucket of the period before and of the period, oldest first. */
  rows: StatsRow[]
  /** By the split, where something was counted; null without a split. */
  split: { by: Dimension; rows: StatsRow[] } | null
  /** When they were read. */
  at: number
}

export interface StatsQuery {
  /** Those of the choice before, until those of a new choice are there. */
  stats: Stats | undefined
  /** Whether `stats` belongs to another choice. */
  isOld: boolean
  problem: Problem | null
  reload(): Promise<void>
}

export function useStats(appId: string, choice: Choice): StatsQuery {
  const { range, mode, by } = choice
  const key = `stats ${appId} ${range} ${mode} ${by}`
  const lastSplit = useRef<{ key: string; at: number; split: NonNullable<Stats['split']> } | null>(null)

  async function readSplit(period: Period, dimension: Dimension, call: CallOptions): Promise<Stats['split']> {
    const last = lastSplit.current
    const isLarge = dimension === 'country' && range === '7d'
    if (isLarge && last?.key === key && Date.now() - last.at < LARGE_LIVE_MS) return last.split
    const split = { by: dimension, rows: await readRows(appId, period, period.since, mode, dimension, call) }
    lastSplit.current = { key, at: Date.now(), split }
    return split
  }

  const query = useQuery(
    key,
    async (call): Promise<Stats> => {
      const period = periodOf(range, Date.now())
      const [rows, split] = await Promise.all([
        readRows(appId, period, period.comparedSince, mode, undefined, call),
        by === 'none' ? null : readSplit(period, by, call),
      ])
      return { choice, period, rows, split, at: Date.now() }
    },
    { everyMs: LIVE_MS },
  )
  const { data, problem, reload } = query
  return { stats: useKept(data), isOld: data === undefined, problem, reload }
}

async function readRows(
  id: string,
  { bucket, until }: Period,
  since: number,
  mode: Choice['mode'],
  by: Dimension | undefined,
  call: CallOptions,
): Promise<StatsRow[]> {
  const query = {
    bucket,
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    ...(mode === 'both' ? {} : { mode }),
    ...(by === undefined ? {} : { by }),
  }
  const rows: StatsRow[] = []
  const pages = allPages(({ cursor }) =>
    bodyOf(
      api.GET('/admin/v1/apps/{id}/stats', {
        params: { path: { id }, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } },
        ...call,
      }),
    ),
  )
  for await (const page of pages) rows.push(...page)
  return rows
}

/** The API keeps them for 400 days. One less, because the clock of the browser may be late. */
const DAYS_ON_RECORD = 399

/** Whether the app has had any send on record, in either mode. Read only while `when` is true. */
export function useHasSends(appId: string, when: boolean): Query<boolean> {
  return useQuery(
    when ? `any sends ${appId}` : null,
    async call => {
      const period = periodOf('30d', Date.now())
      const since = period.until - DAYS_ON_RECORD * DAY_MS
      const rows = await readRows(appId, period, since, 'both', undefined, call)
      return rows.some(({ started, refused }) => started + refused > 0)
    },
    { everyMs: LARGE_LIVE_MS },
  )
}
