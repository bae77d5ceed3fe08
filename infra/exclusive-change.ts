// Changes of many documents that only count together: one at a time, among all processes. In: the name of what is changed, and
// the change. Out: what the change answers, or 409 when another change of it takes too long. A process that dies during a change blocks
// other changes of the same name until its lease has passed.
import type { Clock } from './clock.ts'
import { httpException } from './http/problem.ts'
import { createLeases, type LeasesDeps } from './leases.ts'
import { createSerialRunner } from './serial-runner.ts'
import { sleep } from './timeout.ts'

/** A change calls `renewLease` before each of its writes. It throws once another process holds the lease. */
export type ExclusiveChange = <Result>(
  name: string,
  change: (renewLease: () => Promise<void>) => Promise<Result>,
) => Promise<Result>

export interface ExclusiveChangeDeps extends LeasesDeps {
  clock: Clock
}

/** With less than `renewBelowMs` left, a write might still be on its way when the lease ends. */
const LEASE = { forMs: 30_000, renewBelowMs: 15_000 }
const MAX_WAIT_MS = 10_000
const RETRY_MS = 25

export function createExclusiveChange({ leases: docs, clock }: ExclusiveChangeDeps): ExclusiveChange {
  const leases = createLeases({ leases: docs, clock }, LEASE)
  // Changes of one process wait for each other here, so that they do not poll the store.
  const runSerially = createSerialRunner()

  async function waitForLease(lease: string): Promise<void> {
    const waitUntil = clock.now() + MAX_WAIT_MS
    while (!(await leases.take(lease))) {
      if (clock.now() >= waitUntil) throw httpException(409, 'Another change of it is under way. Nothing was changed.')
      await sleep(clock, RETRY_MS)
    }
  }

  return (name, change) =>
    runSerially(name, async () => {
      const lease = `change:${name}`
      await waitForLease(lease)
      const renewLease = async (): Promise<void> => {
        if (await leases.renew(lease)) return
        throw httpException(409, 'It took too long, and another change of it came in between. Look what there is now.')
      }
      try {
        return await change(renewLease)
      } finally {
        // A lease that cannot be released passes in time.
        await leases.release(lease).catch(() => {})
      }
    })
}
