// How the bench measures. A figure alone says more about the machine than about the code, so every figure is compared with another of
// the same run: rounds alternate, and the median of each counts.

/** Runs one round and answers its figure. */
type Contender = () => Promise<number>

const ROUNDS = 5
const ROUND_MS = 600
const WARM_UP_MS = 200

export async function medians<Name extends string>(
  contenders: Record<Name, Contender>,
  rounds = ROUNDS,
): Promise<Record<Name, number>> {
  const figures = Object.entries<number[]>(await alternating(contenders, rounds))
  return Object.fromEntries(figures.map(([name, all]) => [name, quantile(all, 0.5)])) as Record<Name, number>
}

/** The figures of every round, by name. */
export async function alternating<Name extends string, Figure>(
  contenders: Record<Name, () => Promise<Figure>>,
  rounds: number,
): Promise<Record<Name, Figure[]>> {
  const names = Object.keys(contenders) as Name[]
  const figures = new Map(names.map(name => [name, [] as Figure[]]))
  for (let round = 0; round < rounds; round++) {
    // The order is reversed every time, so that none always follows the heaviest.
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) figures.get(name)?.push(await contenders[name]())
  }
  return Object.fromEntries(figures) as Record<Name, Figure[]>
}

/** Units per second with a fixed number of calls under way. `work` answers how many units it did; the start is not counted. */
export function perSecond(inFlight: number, work: (lane: number) => Promise<number>): Contender {
  return async () => {
    let units = 0
    const begin = performance.now() + WARM_UP_MS
    const end = begin + ROUND_MS
    const lane = async (_: unknown, at: number): Promise<void> => {
      while (performance.now() < end) {
        const done = await work(at)
        const now = performance.now()
        if (now >= begin && now < end) units += done
      }
    }
    await Promise.all(Array.from({ length: inFlight }, lane))
    return (units * 1000) / ROUND_MS
  }
}

export function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}
