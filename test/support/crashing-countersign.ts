// services/main.ts as a process that crashes on demand: the same composition, on engines that crash at the call that CRASH names (JSON, see
// crash.ts). AMQP_PREFIX is the prefix of its queues; SERVICES names a module whose default export replaces the real services.
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { createLog } from '../../infra/log/log.ts'
import { openEngines, run, type Services } from '../../services/main.ts'
import { readCrashPoint, withCrash } from './crash.ts'

const { AMQP_PREFIX, SERVICES } = process.env
const services: { default: Services } | null = SERVICES ? await import(SERVICES) : null
const point = readCrashPoint(process.env)

await run(async config => {
  const log = createLog({ level: config.logLevel })
  const engines = await openEngines(config, systemClock, log, AMQP_PREFIX ? { prefix: AMQP_PREFIX } : {})
  return { log, engines: withCrash(engines, point), ...(services ? { services: services.default } : {}) }
})
