// A clock that stands still until a test moves it.
import type { Clock } from '../../infra/clock.ts'

export interface TestClock extends Clock {
  /** Moves the time on and runs the tasks that become due in order, each after the promises of the one before have settled. */
  advance(ms: number): Promise<void>
}

const promisesSettled = () => new Promise<void>(resolve => setImmediate(resolve))

export function testClock(start = Date.UTC(2030, 0, 1)): TestClock {
  let time = start
  const timers = new Set<{ at: number; task: () => void }>()
  return {
    now: () => time,
    after(ms, task) {
      const timer = { at: time + Math.max(ms, 0), task }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = time + ms
      await promisesSettled()
      for (;;) {
        const due = [...timers].filter(timer => timer.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers.delete(due)
        time = Math.max(time, due.at)
        due.task()
        await promisesSettled()
      }
      time = end
    },
  }
}
