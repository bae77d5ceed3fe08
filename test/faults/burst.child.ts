// Countersign as a process whose time runs five times as fast, counted from SINCE, so that what repairs it after a crash need not be
// waited for as long; on engines that crash where CRASH says. AMQP_PREFIX names its queues.
import process from 'node:process'
import { createLog } from '../../infra/log/log.ts'
import { openEngines, run } from '../../services/main.ts'
import { acceleratedClock } from '../support/accelerated-clock.ts'
import { readCrashPoint, withCrash } from '../support/crash.ts'

const { AMQP_PREFIX, SINCE } = process.env
const clock = acceleratedClock(Number(SINCE), 5)

await run(config => {
  const log = createLog({ level: config.logLevel })
  const engines = openEngines(config, clock, log, AMQP_PREFIX ? { prefix: AMQP_PREFIX } : {})
  return { clock, log, engines: withCrash(engines, readCrashPoint(process.env)) }
})
