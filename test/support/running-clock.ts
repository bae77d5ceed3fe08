// A clock for whole systems on real engines. It runs like the system clock, so that pollers keep polling, and a test can set it forward.
// Tasks that become due then run at once.
import type { TestClock } from './clock.ts'

interface Timer {
  at: number
  task: () => void
  handle: ReturnType<typeof setTimeout>
}

const MAX_TIMER_MS = 2 ** 31 - 1

export function createRunningClock(): TestClock {
  let offset = 0
  const timers = new Set<Timer>()
  const now = (): number => Date.now() + offset

  function arm(timer: Timer): void {
    const left = Math.min(Math.max(timer.at - now(), 0), MAX_TIMER_MS)
    timer.handle = setTimeout(() => (timer.at > now() ? arm(timer) : run(timer)), left)
  }
  function run(timer: Timer): void {
    timers.delete(timer)
    timer.task()
  }

  return {
    now,
    after(ms, task) {
      const timer: Timer = { at: now() + Math.max(ms, 0), task, handle: setTimeout(() => {}, 0) }
      clearTimeout(timer.handle)
      timers.add(timer)
      arm(timer)
      return () => {
        clearTimeout(timer.handle)
        timers.delete(timer)
      }
    },
    async advance(ms) {
      offset += ms
      for (const timer of timers) {
        clearTimeout(timer.handle)
        arm(timer)
      }
    },
  }
}
