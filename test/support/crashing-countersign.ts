// services/main.ts as a process that crashes on demand: the same composition, on engines that crash at the call that
// CRASH names (JSON, see crash.ts). AMQP_PREFIX is the prefix of its queues; SERVICES names a module whose default
// export replaces the real services. With SINCE its clock runs five times as fast from then on, so that tests wait less
// for the repair after a crash.
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { createLog } from '../../infra/log/log.ts'
import { openEngines, run, type Services } from '../../services/main.ts'
import { acceleratedClock } from './accelerated-clock.ts'
import { readCrashPoint, withCrash } from './crash.ts'
import { withTimeOf } from './store-time.ts'

const { AMQP_PREFIX, SERVICES, SINCE } = process.env
const clock = SINCE ? acceleratedClock(Number(SINCE), 5) : systemClock
const services: { default: Services } | null = SERVICES ? await import(SERVICES) : null
const point = readCrashPoint(process.env)

await run(async config => {
  const log = createLog({ level: config.logLevel })
  const opened = await openEngines(config, clock, log, AMQP_PREFIX ? { prefix: AMQP_PREFIX } : {})
  const engines = withCrash(SINCE ? withTimeOf(clock, opened) : opened, point)
  return { clock, log, engines, ...(services ? { services: services.default } : {}) }
})
