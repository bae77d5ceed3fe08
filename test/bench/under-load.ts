// Shared by the benches that put systems under load.
import process from 'node:process'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'

export const ROUND = { warmUpMs: 1_500, measureMs: 3_500 }
export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)

/** The aims for the product, compared with the bare pipeline. */
export const AIMS_AGAINST_BARE = { minRatio: 0.6, maxP99Ratio: 3 }

export function needsRealEngines(bench: string): boolean {
  const there = Boolean(MONGODB_URL && AMQP_URL)
  if (!there) console.log(`RabbitMQ and MongoDB are needed: infra/engines.sh run npm run bench -- ${bench}`)
  return there
}

interface Stoppable {
  stop(): Promise<void>
}

/** Passes the started systems to `use`, and stops them even when one fails. */
export async function useAndClose<All extends Stoppable[]>(
  starting: { [At in keyof All]: Promise<All[At]> },
  use: (started: All) => Promise<void>,
): Promise<void> {
  const started = await Promise.allSettled(starting)
  try {
    await use(
      started.map(one => {
        if (one.status === 'rejected') throw one.reason
        return one.value
      }) as All,
    )
  } finally {
    await Promise.all(started.map(one => (one.status === 'fulfilled' ? one.value.stop() : undefined)))
  }
}
