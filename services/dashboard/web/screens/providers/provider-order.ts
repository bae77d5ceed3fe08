// The order in which the providers of a channel are tried. In: the providers of one channel as the API lists them, and a step. Out: the
// positions that have to change. Positions of other channels do not matter: each channel has an order of its own.

export interface Placed {
  name: string
  position: number
}

export type Step = 'up' | 'down'

/** The list after the step; the same list where there is no room for it. */
function moved<T extends { name: string }>(all: readonly T[], name: string, step: Step): T[] {
  const from = all.findIndex(one => one.name === name)
  const to = from + (step === 'up' ? -1 : 1)
  const next = [...all]
  const [one, other] = [all[from], all[to]]
  if (one === undefined || other === undefined) return next
  next[from] = other
  next[to] = one
  return next
}

export const positionsAfterMove = (all: readonly Placed[], name: string, step: Step): Placed[] =>
  positionsOf(all, moved(all, name, step))

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
