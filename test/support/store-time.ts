// Gives a store a test's clock. MongoDB has its own, and a process that compares the two would refuse to work once a test moves its clock.
import type { Clock } from '../../infra/clock.ts'
import type { Engines } from '../../services/main.ts'

export const withTimeOf = (clock: Pick<Clock, 'now'>, engines: Engines): Engines => ({
  ...engines,
  store: { ...engines.store, time: async () => clock.now() },
})
