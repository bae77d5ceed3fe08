// Work in the background, which a stop waits for. In: promises that do not reject. Out: how many have not ended, and when they have.
export interface UnderWay {
  add(work: Promise<unknown>): void
  size(): number
  /** Resolves when all that are under way now have ended. */
  settled(): Promise<void>
}

export function createUnderWay(): UnderWay {
  const running = new Set<Promise<unknown>>()
  return {
    add(work) {
      const ending = work.finally(() => running.delete(ending))
      running.add(ending)
    },
    size: () => running.size,
    settled: async () => void (await Promise.all(running)),
  }
}
