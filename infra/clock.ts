// Time as a dependency. Product code never calls Date.now or setTimeout itself, so a test can hold and move the clock.
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Runs `task` once, `ms` from now; the returned function cancels it. */
  after(ms: number, task: () => void): () => void
}

const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    // setTimeout fires at once for delays past 2^31 ms, so a longer wait is made of several.
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number): void => {
      const step = Math.min(Math.max(left, 0), MAX_TIMER_MS)
      timer = setTimeout(() => (left > step ? arm(left - step) : task()), step)
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
}
