// The counts of one app's routes, as the sweeper holds them in memory. In: hours and slots as they are stored, each
// whenever it has changed. Out: the history of each route. Nothing is decoded or summed up twice: thirty days of an app
// are read once.
import type { RouteCounts, RouteHistory, RouteSlot } from '../../machines/routes.ts'
import type { RouteSlotsDoc } from '../domain/routes/documents.ts'
import { routeOf } from '../domain/routes/route-names.ts'
import { decodeSlots } from '../domain/routes/slots.ts'
import { type ApprovalTimes, compactTimes, secondsOfShare } from '../domain/stats/approval-times.ts'
import { dayOf } from '../domain/stats/contribution.ts'
import { type Cell, type Cells, countOf, decodeCells, MAX_ROUTES } from '../domain/stats/counts.ts'
import type { StatsDoc } from '../domain/stats/documents.ts'

export interface RouteCountsOfApp {
  setHour(doc: Pick<StatsDoc, 'start' | 'routes'>): void
  /** Answers false for one that is known already. */
  setSlots(doc: RouteSlotsDoc): boolean
  /** Forgets hours and slots that begin before these times. Hours before `final` do not change any more: of them the
   *  counts are kept, and how long approvals took by day. */
  forget(before: { hours: number; final: number; slots: number }): void
  /** How many counts are held: one per route and hour. */
  size(): number
  histories(): RouteHistory[]
}

interface HoursOfRoute {
  /** Oldest first. */
  hours: RouteCounts[]
  /** By the start of the day, which is forgotten with its last hour. */
  timesByDay: Map<number, ApprovalTimes>
}

interface KnownSlots {
  rev: number
  start: number
  /** By route, oldest first. They are sorted here, once: the documents of four hours are put together every few seconds. */
  slots: Map<string, RouteSlot[]>
}

export function createRouteCounts(): RouteCountsOfApp {
  /** The cells of the hours that may still change. */
  const cellsByHour = new Map<number, Cells>()
  const hoursByRoute = new Map<string, HoursOfRoute>()
  const slotsById = new Map<string, KnownSlots>()

  function setCells(start: number, cells: Cells): void {
    for (const [route, cell] of cellsByHour.get(start) ?? []) takeOut(route, start, cell)
    for (const [route, cell] of cells) if (routeOf(route) !== null) putIn(route, start, cell)
    if (cells.size > 0) cellsByHour.set(start, cells)
    else cellsByHour.delete(start)
  }

  function takeOut(route: string, start: number, cell: Cell): void {
    const known = hoursByRoute.get(route)
    if (!known) return
    known.hours = known.hours.filter(hour => hour.start !== start)
    if (known.hours.length === 0) hoursByRoute.delete(route)
    addTimes(
      known,
      start,
      cell.approvals.map((one, at) => (at % 2 === 0 ? one : -one)),
    )
  }

  function putIn(route: string, start: number, cell: Cell): void {
    const known = hoursByRoute.get(route) ?? { hours: [], timesByDay: new Map() }
    hoursByRoute.set(route, known)
    const counts = {
      start,
      messages: countOf(cell, 'sent'),
      delivered: countOf(cell, 'delivered'),
      approved: countOf(cell, 'approved'),
    }
    known.hours = known.hours.filter(hour => hour.start !== start)
    const after = known.hours.findIndex(hour => hour.start > start)
    known.hours.splice(after === -1 ? known.hours.length : after, 0, counts)
    addTimes(known, start, cell.approvals)
  }

  function addTimes({ timesByDay }: HoursOfRoute, start: number, more: ApprovalTimes): void {
    const day = dayOf(start)
    timesByDay.set(day, compactTimes([...(timesByDay.get(day) ?? []), ...more]))
  }

  function slotsByRoute(): Map<string, RouteSlot[]> {
    const byRoute = new Map<string, RouteSlot[]>()
    for (const { slots } of [...slotsById.values()].sort((one, other) => one.start - other.start))
      for (const [route, sorted] of slots) {
        const known = byRoute.get(route)
        if (known) known.push(...sorted)
        else byRoute.set(route, [...sorted])
      }
    return byRoute
  }

  return {
    setHour: ({ start, routes = '' }) => setCells(start, decodeCells(routes, MAX_ROUTES)),
    setSlots({ _id, rev, start, slots }) {
      if (slotsById.get(_id)?.rev === rev) return false
      const sorted = [...decodeSlots(slots, start)].map(([route, counts]): [string, RouteSlot[]] => [
        route,
        [...counts.values()].sort((one, other) => one.start - other.start),
      ])
      slotsById.set(_id, { rev, start, slots: new Map(sorted) })
      return true
    },
    forget(before) {
      for (const start of cellsByHour.keys()) if (start < before.final) cellsByHour.delete(start)
      for (const [route, known] of hoursByRoute) {
        known.hours = known.hours.filter(({ start }) => start >= before.hours)
        for (const day of known.timesByDay.keys()) if (day < dayOf(before.hours)) known.timesByDay.delete(day)
        if (known.hours.length === 0) hoursByRoute.delete(route)
      }
      for (const [_id, { start }] of slotsById) if (start < before.slots) slotsById.delete(_id)
    },
    size: () => [...hoursByRoute.values()].reduce((sum, { hours }) => sum + hours.length, 0),
    histories() {
      const slots = slotsByRoute()
      return [...hoursByRoute].flatMap(([route, { hours, timesByDay }]) => {
        const key = routeOf(route)
        if (key === null) return []
        // `flat` takes forty times as long.
        const times = ([] as ApprovalTimes).concat(...timesByDay.values())
        return {
          ...key,
          hours,
          slots: slots.get(route) ?? [],
          seconds_p50: secondsOfShare(times, 0.5),
          seconds_p90: secondsOfShare(times, 0.9),
        }
      })
    },
  }
}
