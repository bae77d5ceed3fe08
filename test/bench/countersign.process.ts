// Runs services/main.ts on its own queues (AMQP_PREFIX). Prints its URL once it is ready, at any log level.
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { readConfig } from '../../infra/config/config.ts'
import { limitHeapGrowth, requireYoungHeap } from '../../infra/heap.ts'
import { createLog } from '../../infra/log/log.ts'
import { openEngines, start } from '../../services/main.ts'

const config = readConfig(process.env, process.argv.slice(2))
// As `run` does.
requireYoungHeap(config.heapYoungMb)
if (config.engine.kind === 'embedded') limitHeapGrowth()
const log = createLog({ level: config.logLevel })
const engines = await openEngines(config, systemClock, log, { prefix: process.env.AMQP_PREFIX ?? '' })
const running = await start(config, { log, engines })
process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)))
await running.ready
console.log(JSON.stringify({ url: running.url }))
