// Right codes, verified over HTTP: one process per role on real engines against the bare pipeline. Every round sends what it is
// going to verify before the time that counts.
import { build } from './build.ts'
import { runContest } from './contest.ts'
import { type Figures, load } from './load.ts'
import { bareSends } from './send.ts'
import { type Countersign, ONE_PROCESS_PER_ROLE, startBare, startCountersign } from './systems.ts'
import { AIMS_AGAINST_BARE, needsRealEngines, ROUND, ROUNDS, useAndClose } from './under-load.ts'

/** More than a round can use. */
const VERIFICATIONS = 6_000

export default async function verify(): Promise<void> {
  if (!needsRealEngines('verify')) return
  await build()
  await useAndClose([startCountersign('real', ONE_PROCESS_PER_ROLE), startBare()], async ([product, yardstick]) => {
    for (const connections of [64, 128])
      await runContest({
        what: `verifies, ${connections} connections`,
        rounds: ROUNDS,
        aims: AIMS_AGAINST_BARE,
        yardstick: { name: 'bare pipeline', round: () => bareSends(yardstick, connections) },
        product: { name: 'one process per role', round: () => verifies(product, connections) },
      })
  })
}

const verifies = ({ url, key, env }: Countersign, connections: number): Promise<Figures> =>
  load({ url, key, ...ROUND, connections, verify: { verifications: VERIFICATIONS, env } })
