// Countersign as a process whose clock runs five times as fast from SINCE on, so that tests wait less for the repair after a crash. Its
// engines crash at the call that CRASH names. AMQP_PREFIX is the prefix of its queues.
import process from 'node:process'
import { createLog } from '../../../infra/log/log.ts'
import { openEngines, run } from '../../../services/main.ts'
import { acceleratedClock } from '../../support/accelerated-clock.ts'
import { readCrashPoint, withCrash } from '../../support/crash.ts'
import { withTimeOf } from '../../support/store-time.ts'

const { AMQP_PREFIX, SINCE } = process.env
const clock = acceleratedClock(Number(SINCE), 5)

await run(async config => {
  const log = createLog({ level: config.logLevel })
  const engines = await openEngines(config, clock, log, AMQP_PREFIX ? { prefix: AMQP_PREFIX } : {})
  return { clock, log, engines: withCrash(withTimeOf(clock, engines), readCrashPoint(process.env)) }
})
