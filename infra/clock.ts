// Time as a dependency. Product code does not call Date.now or setTimeout itself, so that a test can stop the clock and move it.
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
    // setTimeout fires at once for delays past 2^31 ms, so a longer wait is made of several timers.
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number): void => {
      const step = Math.min(Math.max(left, 0), MAX_TIMER_MS)
      timer = setTimeout(() => (left > step ? arm(left - step) : task()), step)
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
}
