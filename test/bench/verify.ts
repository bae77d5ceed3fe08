// Verifies right codes over HTTP: one process per role on real engines, compared with the bare pipeline. Every round sends its
// verifications before the measurement begins.
import { runComparison } from './comparison.ts'
import { type Figures, load } from './load.ts'
import { bareSends } from './send.ts'
import { type Countersign, ONE_PROCESS_PER_ROLE, startBare, startCountersign } from './systems.ts'
import { AIMS_AGAINST_BARE, needsRealEngines, ROUND, ROUNDS, useAndClose } from './under-load.ts'

/** More than a round can verify. */
const VERIFICATIONS = 6_000

export default async function verify(): Promise<void> {
  if (!needsRealEngines('verify')) return
  await useAndClose([startCountersign('real', ONE_PROCESS_PER_ROLE), startBare()], async ([product, baseline]) => {
    for (const connections of [64, 128])
      await runComparison({
        what: `verifies, ${connections} connections`,
        rounds: ROUNDS,
        aims: AIMS_AGAINST_BARE,
        baseline: { name: 'bare pipeline', round: () => bareSends(baseline, connections) },
        product: { name: 'one process per role', round: () => verifies(product, connections) },
      })
  })
}

const verifies = ({ url, key, env }: Countersign, connections: number): Promise<Figures> =>
  load({ url, key, ...ROUND, connections, verify: { verifications: VERIFICATIONS, env } })
