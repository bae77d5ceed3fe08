// Whether a full database is as fast as an empty one: sends with many stored verifications, compared with none, on each engine set.
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import { partitionOf } from '../../infra/partitions.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import { issued } from '../support/otp.ts'
import { documentOf } from '../support/queued-otps.ts'
import type { EngineSet, Site } from '../support/site.ts'
import { runComparison } from './comparison.ts'
import { sends } from './send.ts'
import { ALL_IN_ONE, startCountersign } from './systems.ts'
import { ROUNDS, useAndClose } from './under-load.ts'

const OTPS = Number(process.env.BENCH_OTPS ?? 1_000_000)
const BATCH = 5_000
const MONTH_MS = 30 * 86_400_000

export default async function stored(): Promise<void> {
  await compare('embedded')
  if (MONGODB_URL && AMQP_URL) await compare('real')
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- stored')
}

const compare = (engines: EngineSet): Promise<void> =>
  useAndClose(
    [startCountersign(engines, ALL_IN_ONE, { prepare: fill }), startCountersign(engines, ALL_IN_ONE)],
    ([full, empty]) =>
      runComparison({
        what: `sends, all in one on ${engines} engines, 64 connections`,
        rounds: ROUNDS,
        aims: { minRatio: 0.9, maxP99Ratio: 1.5 },
        baseline: { name: 'nothing stored', round: () => sends(empty, { connections: 64 }) },
        product: {
          name: `${OTPS.toLocaleString('en')} verifications stored`,
          round: () => sends(full, { connections: 64 }),
        },
      }),
  )

async function fill({ engines, env }: Site): Promise<void> {
  const began = performance.now()
  const store: CountersignStore =
    engines === 'embedded'
      ? createEmbeddedStore({ folder: env.DATA_DIR ?? '', collections: COLLECTIONS, clock: systemClock })
      : createMongoStore({ url: env.MONGODB_URL ?? '', collections: COLLECTIONS, timeoutMs: 120_000 })
  for (let first = 0; first < OTPS; first += BATCH)
    await store.docs('otps').insert(Array.from({ length: Math.min(BATCH, OTPS - first) }, oldOtp))
  await store.close()
  const seconds = Math.round((performance.now() - began) / 1_000)
  console.log(`  (${OTPS.toLocaleString('en')} verifications laid down on ${engines} engines in ${seconds} s)`)
}

/** A verification of the last month that has ended. */
function oldOtp(): OtpDoc {
  const at = Date.now() - Math.floor(Math.random() * MONTH_MS)
  const _id = newId('otp', at)
  const saved = issued({ at, otp_id: _id, company_id: 'cmp_bench', app_id: 'app_bench', mode: 'test', link: null })
  return { ...documentOf({ ...saved, value: 'approved' }, at), recipient: _id, partition: partitionOf(_id) }
}
