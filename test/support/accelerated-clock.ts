// A clock that runs faster than the real one, for processes: what a system does within half a minute is over in seconds. It is the
// same time in every process that counts from the same moment, also in one that follows another.
import { type Clock, systemClock } from '../../infra/clock.ts'

export const acceleratedClock = (since: number, speed: number): Clock => ({
  now: () => since + (Date.now() - since) * speed,
  after: (ms, task) => systemClock.after(ms / speed, task),
})
