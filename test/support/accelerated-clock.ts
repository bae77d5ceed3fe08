// A clock that runs faster than the system clock, so that a wait of half a minute takes seconds. Processes with the
// same `since` and `speed` have the same time, also if one starts after another has ended.
import { type Clock, systemClock } from '../../infra/clock.ts'

export const acceleratedClock = (since: number, speed: number): Clock => ({
  now: () => since + (Date.now() - since) * speed,
  after: (ms, task) => systemClock.after(ms / speed, task),
})
