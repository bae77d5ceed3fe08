// Runs tasks, at most `max` at once. The others wait in the order they came, and do not start until their turn comes.
import { createFifo } from './fifo.ts'

export type ConcurrencyLimit = <Result>(task: () => Promise<Result>) => Promise<Result>

export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const waiting = createFifo<() => void>()
  let running = 0

  const turn = (): Promise<void> | undefined => {
    if (running < max) {
      running += 1
      return undefined
    }
    return new Promise(resolve => waiting.push(resolve))
  }

  /** The next task takes over the place of the one that ended. */
  function endTurn(): void {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }

  return async task => {
    await turn()
    try {
      return await task()
    } finally {
      endTurn()
    }
  }
}
