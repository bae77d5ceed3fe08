// The order in which the providers of a channel are tried. In: the providers of one channel as the API lists them, and a step. Out: the
// positions that have to change. Positions of other channels do not matter: each channel has an order of its own.
import { moveTo } from '../../data/order.ts'

export interface Placed {
  name: string
  position: number
}

export type Step = 'up' | 'down'

export function positionsAfterMove(all: readonly Placed[], name: string, step: Step): Placed[] {
  const from = all.findIndex(one => one.name === name)
  const moved = all[from]
  return moved ? positionsOf(all, moveTo(all, moved, from + (step === 'up' ? -1 : 1))) : []
}

/** The positions that put the providers into the order of these names. */
export const positionsFor = (all: readonly Placed[], names: readonly string[]): Placed[] =>
  positionsOf(
    all,
    all.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name)),
  )

/** Equal positions are told apart by name, so they cannot be swapped: then all are counted anew. */
function positionsOf(all: readonly Placed[], next: readonly Placed[]): Placed[] {
  const used = all.map(({ position }) => position)
  const isStrict = used.every((position, at) => at === 0 || position > (used[at - 1] ?? 0))
  return next
    .map((provider, at) => ({ provider, position: isStrict ? (used[at] ?? at) : at }))
    .filter(({ provider, position }) => provider.position !== position)
    .map(({ provider, position }) => ({ name: provider.name, position }))
}

export interface Scoped extends Placed {
  paused: boolean
  countries: string[] | null
}

/** The providers that can be given a country of their own: another one is left for the rest. */
export const splittable = <T extends Scoped>(all: readonly T[]): T[] =>
  all.filter(({ name }) => all.some(other => other.name !== name && other.countries === null && !other.paused))

/** What has to change so that numbers of a country go through one provider first, and it serves no others. */
export function splitByCountry(
  all: readonly Scoped[],
  name: string,
  country: string,
): { countries: string[]; positions: Placed[] } {
  const first = all.filter(one => one.name === name)
  return {
    countries: [...(first[0]?.countries ?? []), country],
    positions: positionsOf(all, [...first, ...all.filter(one => one.name !== name)]),
  }
}

/** The list with these positions, in the order that they give. */
export const withPositions = <T extends Placed>(all: readonly T[], positions: readonly Placed[]): T[] => {
  const changed = new Map(positions.map(({ name, position }) => [name, position]))
  return all
    .map(one => ({ ...one, position: changed.get(one.name) ?? one.position }))
    .sort((one, other) => one.position - other.position)
}
