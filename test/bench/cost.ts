// What a send costs, with its delivery, receipt and event: processor time of each process and engine, and the number of MongoDB
// commands, compared with the bare pipeline. Useful on a machine that is too busy to measure speed. Linux only: it reads /proc.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { MongoClient } from 'mongodb'
import { MONGODB_URL } from '../support/engines.ts'
import { build } from './build.ts'
import { load } from './load.ts'
import { ONE_PROCESS_PER_ROLE, type System, startBare, startCountersign } from './systems.ts'
import { needsRealEngines, useAndClose } from './under-load.ts'

const SENDS = Number(process.env.BENCH_SENDS ?? 5_000)
const WARM_UP = 3_000
/** Long enough for work that is done a moment later: the outbox is cleared, counts are flushed. */
const SETTLE_MS = 4_500
const TICK_MS = 10

type Reading = Record<string, number>

export default async function cost(): Promise<void> {
  const { ENGINES_DIR } = process.env
  if (!needsRealEngines('cost')) return
  if (!ENGINES_DIR) return console.log('The engines must be ours: infra/engines.sh run npm run bench -- cost')
  await build()
  const engines = enginesIn(ENGINES_DIR)
  const roles = ONE_PROCESS_PER_ROLE.map(role => role.join())
  const least = await measureAndClose(startBare(), system => costOf(system, ['edge', 'actor'], engines, false))
  const ours = await measureAndClose(startCountersign('real', ONE_PROCESS_PER_ROLE), system =>
    costOf(system, roles, engines, true),
  )
  show('bare pipeline', least)
  show('one process per role', ours)
  console.log(
    `  one process per role to the bare pipeline: ${(sum(ours.cpu) / sum(least.cpu)).toFixed(1)} × the processor time`,
  )
}

interface Cost {
  cpu: Reading
  asked: Reading
}

async function measureAndClose<S extends System>(
  starting: Promise<S>,
  use: (system: S) => Promise<Cost>,
): Promise<Cost> {
  let cost: Cost = { cpu: {}, asked: {} }
  await useAndClose([starting], async ([system]) => {
    cost = await use(system)
  })
  return cost
}

async function costOf(
  system: System,
  names: string[],
  engines: Record<string, number[]>,
  delivers: boolean,
): Promise<Cost> {
  const { url, key, processes } = system
  const of: Record<string, number[]> = { ...engines }
  for (const [at, { process }] of processes.entries()) of[names[at] ?? ''] = [process.pid ?? 0]
  const plan = { url, key, connections: 64, warmUpMs: 0, measureMs: Number.MAX_SAFE_INTEGER, untilDelivered: delivers }
  const settled = () => new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  await load({ ...plan, maxRequests: WARM_UP })
  await settled()
  const before = { cpu: cpuOf(of), asked: await readMongoCounters() }
  await load({ ...plan, maxRequests: SENDS })
  await settled()
  return { cpu: perSend(before.cpu, cpuOf(of)), asked: perSend(before.asked, await readMongoCounters()) }
}

const perSend = (before: Reading, after: Reading): Reading =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / SENDS]))

/** RabbitMQ's pid file names a parent of its process, so children are counted too. */
function enginesIn(folder: string): Record<string, number[]> {
  const port = new URL((MONGODB_URL ?? '').replace('mongodb:', 'http:')).port
  const pidOf = (name: string): number => Number(readFileSync(`${folder}/${name}.pid`, 'utf8'))
  return { MongoDB: [pidOf(`mongodb-${port}`)], RabbitMQ: processTree(pidOf('rabbitmq')) }
}

function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(processTree)]
}

const cpuOf = (of: Record<string, number[]>): Reading =>
  Object.fromEntries(Object.entries(of).map(([name, pids]) => [name, total(pids.map(cpuMs))]))

/** User and system time. Fields are counted from behind the process name, which may contain spaces. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function readMongoCounters(): Promise<Reading> {
  const client = await MongoClient.connect(MONGODB_URL ?? '')
  const { metrics, opcounters } = await client.db('admin').command({ serverStatus: 1 })
  await client.close()
  const commands = ['insert', 'update', 'find', 'findAndModify']
  return {
    ...Object.fromEntries(commands.map(name => [`${name} commands`, Number(metrics.commands[name].total)])),
    'documents inserted': Number(opcounters.insert),
    'documents updated': Number(metrics.document.updated),
  }
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
const sum = (reading: Reading): number => total(Object.values(reading))

function show(name: string, { cpu, asked }: Cost): void {
  const all = sum(cpu)
  console.log(`  ${name}: ${all.toFixed(2)} ms of processor time a send`)
  const dearest = Object.entries(cpu).sort(([, one], [, other]) => other - one)
  for (const [who, ms] of dearest)
    console.log(`    ${who.padEnd(20)} ${ms.toFixed(3)} ms   ${Math.round((100 * ms) / all)} %`)
  for (const [what, count] of Object.entries(asked)) console.log(`    ${what.padEnd(24)} ${count.toFixed(3)}`)
}
