// Makes the documents of statistics. In: counts. Out: a new document, or the members of one that change.
import type { Mode } from '../../../machines/otp.ts'
import { STATS_DAY_RETENTION_MS, STATS_HOUR_RETENTION_MS } from '../retention.ts'
import { DIMENSIONS, type Dimension, newTally, type Tally } from './contribution.ts'
import { addCells, decodeCells, encodeCells, MAX_ROUTES, type StoredCells } from './counts.ts'
import { dayId, hourId, type StatsDoc } from './documents.ts'

export interface StatsOwner {
  app_id: string
  mode: Mode
  /** When the hour or day begins. */
  start: number
}

export type Refused = Record<string, number>

export const storedTally = (tally: Tally): Record<Dimension, StoredCells> => ({
  channel: encodeCells(tally.channel),
  country: encodeCells(tally.country),
  provider: encodeCells(tally.provider),
})

/** The members of an hour that its verifications make. */
export const storedHour = (tally: Tally): Required<Pick<StatsDoc, 'by' | 'routes'>> => ({
  by: storedTally(tally),
  routes: encodeCells(tally.routes),
})

export function newHour({ app_id, mode, start }: StatsOwner, tally: Tally, refused: Refused): StatsDoc {
  return {
    _id: hourId(app_id, mode, start),
    app_id,
    mode,
    start,
    ...storedHour(tally),
    refused,
    purge_at: new Date(start + STATS_HOUR_RETENTION_MS),
    rev: 1,
  }
}

/** The sum of a day's hours. */
export function newDay({ app_id, mode, start }: StatsOwner, hours: readonly StatsDoc[]): StatsDoc {
  const tally = newTally()
  const refused: Refused = {}
  for (const hour of hours) {
    addStored(tally, hour)
    addRefused(refused, hour.refused)
  }
  return {
    _id: dayId(app_id, mode, start),
    app_id,
    mode,
    start,
    by: storedTally(tally),
    refused,
    purge_at: new Date(start + STATS_DAY_RETENTION_MS),
    rev: 1,
  }
}

/** The members of a document that change when counts are added to it. */
export function withAdded(doc: StatsDoc, tally: Tally, refused: Refused): Pick<StatsDoc, 'by' | 'refused'> {
  const sum = newTally()
  addStored(sum, doc)
  addTally(sum, tally)
  const allRefused = { ...doc.refused }
  addRefused(allRefused, refused)
  return { by: storedTally(sum), refused: allRefused }
}

/** The same for an hour, which has the counts of routes too. */
export function hourWithAdded(
  doc: StatsDoc,
  tally: Tally,
  refused: Refused,
): Pick<StatsDoc, 'by' | 'routes' | 'refused'> {
  const routes = decodeCells(doc.routes ?? '', MAX_ROUTES)
  addCells(routes, tally.routes, MAX_ROUTES)
  return { ...withAdded(doc, tally, refused), routes: encodeCells(routes) }
}

function addStored(to: Tally, { by }: StatsDoc): void {
  for (const name of DIMENSIONS) addCells(to[name], decodeCells(by[name] ?? ''))
}

export function addTally(to: Tally, added: Tally): void {
  for (const name of DIMENSIONS) addCells(to[name], added[name])
  addCells(to.routes, added.routes, MAX_ROUTES)
}

export function addRefused(to: Refused, added: Refused): void {
  for (const [country, count] of Object.entries(added)) to[country] = (to[country] ?? 0) + count
}
