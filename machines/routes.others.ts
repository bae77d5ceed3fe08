// What the other routes of an app tell about one whose codes are not entered. Two questions: how the country does by the other providers
// there, and whether any code of the app is entered at all. In: the histories of the app. Out: answers about one of them. Pure.
import { HOUR_MS } from '../infra/time.ts'
import { groupBy } from './group-by.ts'
import { APPROVED_BY_THEN, isEvidence, judgeDelayMs } from './routes.judged.ts'
import type { Others, Outage, RouteHistory, RouteSlot } from './routes.ts'
import { createUsual, type Usual } from './routes.usual.ts'

/** A route with what is usual for it. */
interface KnownRoute {
  history: RouteHistory
  usual: Usual
}

/** Entered codes, and how many are usual. */
interface Heard {
  tried: number
  expected: number
}

export interface RoutesOfApp {
  outages: readonly Outage[]
  usualOf(history: RouteHistory): Usual
  /** How the country does by the other providers, from 0 to 1. It does well as long as one of them does: only when all do worse than usual
   *  may the reason be elsewhere (a network, a flood). Others with little traffic say nothing, and what they may miss by chance is no
   *  excuse. */
  conditionFor(history: RouteHistory, judgedAt: number): number
  /** What the other routes do with the messages from `from` on that are judged at `judgedAt`. */
  othersOf(history: RouteHistory, from: number, judgedAt: number): Others
  /** Whether servers send the same way, and the codes of these messages are entered. */
  isHeardByServers(history: RouteHistory, judgedAt: number): boolean
}

/** Others are looked at for as long as it takes to expect this many codes of them, and an hour at most. */
const MAX_EXPECTED = 20
const MIN_EXPECTED = 5
const MAX_LOOK_MS = HOUR_MS
const CONDITION_WEIGHT = 3
/** As many codes may be missing by chance as this many times the root of those expected. */
const CHANCE_DEVIATIONS = 1.5

/** Codes of other routes are entered, when these are at least so many, and at least this part of what is usual. */
const WELL_MIN_TRIED = 3
const WELL_PART = 0.5
/** None are, when so many were expected and at most this part was entered: a backup half as good as usual seems so in 2 of 100 cases. */
const SILENT_MIN_EXPECTED = 8
const SILENT_PART = 0.1

export function createRoutesOfApp(histories: readonly RouteHistory[], outages: readonly Outage[] = []): RoutesOfApp {
  const routes = histories.map((history): KnownRoute => ({ history, usual: createUsual(history.hours) }))
  const usualByHistory = new Map(routes.map(({ history, usual }) => [history, usual]))
  const byKind = groupBy(routes, ({ history }) => history.kind)
  const byPlace = groupBy(routes, ({ history }) => placeOf(history))
  const othersIn = (group: readonly KnownRoute[] = [], own: RouteHistory): KnownRoute[] =>
    group.filter(({ history }) => history !== own)

  /** Counts slots that are judged at `judgedAt`, the youngest first, as long as `goesOn` holds. */
  function heardOf(
    { history, usual }: KnownRoute,
    judgedAt: number,
    goesOn: (slot: RouteSlot, until: number, heard: Heard) => boolean,
    usualWithout = 0,
  ): Heard {
    const heard: Heard = { tried: 0, expected: 0 }
    const until = judgedAt - judgeDelayMs(history)
    for (let nth = history.slots.findLastIndex(({ start }) => start <= until); nth >= 0; nth -= 1) {
      const slot = history.slots[nth] as RouteSlot
      if (!goesOn(slot, until, heard)) break
      if (!isEvidence(slot, history, outages)) continue
      heard.expected += slot.messages * (usual.conversionAt(slot.start) ?? usualWithout) * APPROVED_BY_THEN
      heard.tried += triedIn(slot)
    }
    return heard
  }

  /** Counts the last messages, as many as it takes to tell. */
  const lately = (route: KnownRoute, judgedAt: number): Heard =>
    heardOf(route, judgedAt, ({ start }, until, { expected }) => start > until - MAX_LOOK_MS && expected < MAX_EXPECTED)

  return {
    outages,
    usualOf: history => usualByHistory.get(history) ?? createUsual(history.hours),
    conditionFor(own, judgedAt) {
      let best: number | null = null
      for (const route of othersIn(byPlace.get(placeOf(own)), own)) {
        const { tried, expected } = lately(route, judgedAt)
        if (expected < MIN_EXPECTED) continue
        const isByChance = expected - tried <= CHANCE_DEVIATIONS * Math.sqrt(expected)
        const part = isByChance ? 1 : (tried + CONDITION_WEIGHT) / (expected + CONDITION_WEIGHT)
        best = Math.max(best ?? 0, part)
      }
      return Math.min(1, best ?? 1)
    },
    othersOf(own, from, judgedAt) {
      const place = placeOf(own)
      const ownUsual = usualByHistory.get(own)?.conversionAt(from) ?? 0
      const byProvider = new Map<string, Heard>()
      const rivals: Heard = { tried: 0, expected: 0 }
      for (const route of othersIn(byKind.get(own.kind), own)) {
        const { history } = route
        // A backup that never had messages is expected to do as the one that it stands in for.
        const usualWithout = placeOf(history) === place ? ownUsual : 0
        const heard = heardOf(route, judgedAt, ({ start }) => start >= from, usualWithout)
        byProvider.set(history.provider, sumOf(byProvider.get(history.provider), heard))
        // Where a provider is silent in every country, one country does not excuse the other.
        if (history.provider !== own.provider) Object.assign(rivals, sumOf(rivals, heard))
      }
      if ([...byProvider.values()].some(isWell)) return 'well'
      return rivals.expected >= SILENT_MIN_EXPECTED && rivals.tried <= SILENT_PART * rivals.expected
        ? 'silent'
        : 'unknown'
    },
    isHeardByServers(own, judgedAt) {
      if (own.kind === 'server') return false
      const place = placeOf({ ...own, kind: 'server' })
      const same = byPlace.get(place)?.find(({ history }) => history.provider === own.provider)
      return same !== undefined && isWell(lately(same, judgedAt))
    },
  }
}

export const triedIn = ({ messages, tried, approved }: RouteSlot): number =>
  Math.min(messages, Math.max(tried, approved))

export const placeOf = ({ kind, channel, country }: Pick<RouteHistory, 'kind' | 'channel' | 'country'>): string =>
  `${kind} ${channel} ${country}`

const isWell = ({ tried, expected }: Heard): boolean => tried >= WELL_MIN_TRIED && tried >= WELL_PART * expected

const sumOf = (one: Heard | undefined, other: Heard): Heard => ({
  tried: (one?.tried ?? 0) + other.tried,
  expected: (one?.expected ?? 0) + other.expected,
})
