// What a send costs here, against another checkout: `bench -- cost -- --against <checkout> [NAME=value …]`. Two servers
// run at once, of this checkout and of the other, and take turns of some hundred sends. Out: medians, and the ratio of
// adjacent turns with its quartiles, of processor time (engines apart), of bytes allocated and of the garbage
// collector's pauses, without what the processes use when idle. Such a ratio holds on a busy machine, where
// milliseconds of one run say nothing.
//
// The other checkout must be built (`npm run build:test`). The settings after it are those of its server alone, so that a setting is
// measured against its default with `--against .`. Under light load both are used at the same time: it leaves enough processor for both.
// BENCH_ROUNDS and BENCH_SENDS say how many pairs of turns there are, and how many sends a turn has.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import type { Child } from '../support/child.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import type { EngineSet, Env } from '../support/site.ts'
import { load } from './load.ts'
import { offerOpenLoop } from './open-loop.ts'
import {
  type Amounts,
  compare,
  type Idle,
  idleRates,
  type Pair,
  pairOf,
  pairsOf,
  type Reading,
} from './paired-rounds.ts'
import { ALL_IN_ONE, type Countersign, type Layout, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'
import { useAndClose } from './under-load.ts'
import { enginesIn, type Pids, readCpu, residentBytes, total } from './usage.ts'

const PAIRS = Number(process.env.BENCH_ROUNDS ?? 15)
const SENDS = Number(process.env.BENCH_SENDS ?? 500)
const ENGINES = (process.env.BENCH_ENGINES ?? 'embedded,real').split(',')
/** Sends a second, and for how many seconds in each round. */
interface LightLoad {
  perSecond: number
  seconds: number
}

const LIGHT_LOADS: readonly LightLoad[] = [
  { perSecond: 100, seconds: 4 },
  { perSecond: 10, seconds: 10 },
]
const LIGHT_ROUNDS = Number(process.env.BENCH_LIGHT_ROUNDS ?? 6)
const COLD = 300
const WARM_UP = 1_000
const FEW_CONNECTIONS = 4
/** Fewer where the machine is so busy that calls time out. */
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 64)
const SETTLE_MS = 4_500
const IDLE_MS = 10_000
const PATIENCE_MS = 15_000
const MIB = 2 ** 20

export interface Opponent {
  checkout: string
  settings: Env
}

/** From the words of the command line; null where they name no other checkout. */
export function parseOpponent(words: readonly string[]): Opponent | null {
  const at = words.indexOf('--against')
  if (at < 0) return null
  const [checkout, ...settings] = words.slice(at + 1)
  if (checkout === undefined || checkout.includes('='))
    throw new Error('--against is followed by the path of a checkout')
  return { checkout: resolve(checkout), settings: Object.fromEntries(settings.map(parseSetting)) }
}

function parseSetting(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

export default async function pairedCost({ checkout, settings }: Opponent): Promise<void> {
  const folder = join(checkout, 'dist/test/bench')
  if (!existsSync(join(folder, 'countersign.process.js')))
    return console.log(`${checkout} is not built: run npm run build:test there`)
  const flags = ['--import', join(import.meta.dirname, 'allocated.preload.js')]
  const start = (engines: EngineSet, layout: Layout): [Promise<Countersign>, Promise<Countersign>] => [
    startCountersign(engines, layout, { launch: { flags } }),
    startCountersign(engines, layout, { launch: { flags, folder }, settings }),
  ]
  console.log(`Here, against ${[checkout, ...Object.entries(settings).map(pair => pair.join('='))].join(' ')}`)
  if (ENGINES.includes('embedded'))
    await useAndClose(start('embedded', ALL_IN_ONE), ([ours, theirs]) =>
      measure('all in one, embedded engines', { ours, theirs, engines: {} }),
    )
  if (!ENGINES.includes('real')) return
  const { ENGINES_DIR } = process.env
  if (!MONGODB_URL || !AMQP_URL || !ENGINES_DIR)
    return console.log('\nBy role as well: infra/engines.sh run npm run bench -- cost -- --against <checkout>')
  await useAndClose(start('real', ONE_PROCESS_PER_ROLE), ([ours, theirs]) =>
    measure('one process per role, RabbitMQ and MongoDB', { ours, theirs, engines: enginesIn(ENGINES_DIR) }),
  )
}

interface Rivals {
  ours: Countersign
  theirs: Countersign
  /** Those that both use. */
  engines: Pids
}

async function measure(title: string, rivals: Rivals): Promise<void> {
  const { ours, theirs, engines } = rivals
  for (const system of [ours, theirs]) {
    // A process that has just started is slow, and would refuse many at once.
    await send(system, COLD, FEW_CONNECTIONS)
    await send(system, WARM_UP)
  }
  await wait(SETTLE_MS)
  const before = await read(rivals)
  await wait(IDLE_MS)
  const idle = idleRates(before, await read(rivals))
  print(`${title}, ${CONNECTIONS} connections`, rivals, await takeTurns(rivals, idle), Object.keys(engines))
  if (LIGHT_ROUNDS > 0)
    for (const load of LIGHT_LOADS)
      print(`${title}, ${load.perSecond} sends a second`, rivals, await offerBoth(rivals, load, idle), [])
}

const wait = (ms: number): Promise<unknown> => new Promise(resolve => setTimeout(resolve, ms))

async function takeTurns(rivals: Rivals, idle: Idle): Promise<Pair[]> {
  const readings = [await read(rivals)]
  for (let turn = 0; turn <= 2 * PAIRS; turn += 1) {
    await send(turn % 2 === 0 ? rivals.ours : rivals.theirs, SENDS)
    readings.push(await read(rivals))
  }
  return pairsOf(readings, SENDS, idle)
}

async function offerBoth(rivals: Rivals, { perSecond, seconds }: LightLoad, idle: Idle): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round < LIGHT_ROUNDS; round += 1) {
    const before = await read(rivals)
    const plan = { perSecond, measureMs: seconds * 1_000, patienceMs: PATIENCE_MS }
    await Promise.all([rivals.ours, rivals.theirs].map(({ url, key }) => offerOpenLoop({ url, key, ...plan })))
    pairs.push(pairOf(before, await read(rivals), perSecond * seconds, idle))
  }
  return pairs
}

const send = ({ url, key }: Countersign, maxRequests: number, connections = CONNECTIONS): Promise<unknown> =>
  load({
    url,
    key,
    connections,
    warmUpMs: 0,
    measureMs: Number.MAX_SAFE_INTEGER,
    maxRequests,
    untilDelivered: true,
    repeatRefused: true,
  })

async function read({ ours, theirs, engines }: Rivals): Promise<Reading> {
  const [own, other] = await Promise.all([amountsOf(ours), amountsOf(theirs)])
  return { at: performance.now(), ours: own, theirs: other, shared: readCpu(engines) }
}

/** The processor time of the server's processes, in milliseconds, and what they say of their heaps. */
async function amountsOf({ processes }: Countersign): Promise<Amounts> {
  const heaps = await Promise.all(processes.map(askHeap))
  return {
    ...readCpu({ processes: pidsOf(processes) }),
    allocated: total(heaps.map(({ allocated }) => allocated)),
    collector: total(heaps.map(({ collectorMs }) => collectorMs)),
  }
}

const pidsOf = (processes: readonly Child[]): number[] => processes.map(({ process }) => process.pid ?? 0)

/** See allocated.preload.ts. */
async function askHeap({ process, lines, waitForLine }: Child): Promise<{ allocated: number; collectorMs: number }> {
  const asked = lines.filter(line => line.startsWith('{"asked":')).length + 1
  process.kill('SIGWINCH')
  return JSON.parse(await waitForLine(line => line.startsWith(`{"asked":${asked},`)))
}

function print(title: string, { ours, theirs }: Rivals, pairs: readonly Pair[], engines: readonly string[]): void {
  console.log(`\n  ${title.padEnd(64)} here   there   ratio (quartiles of ${pairs.length})`)
  const row = (what: string, digits: number, amountOf: (amounts: Amounts) => number): void => {
    const { ours, theirs, ratio, from, to } = compare(pairs, amountOf)
    const figures = [ours, theirs].map(amount => amount.toFixed(digits).padStart(8)).join('')
    console.log(`    ${what.padEnd(58)} ${figures}   ${ratio.toFixed(3)} (${from.toFixed(3)}–${to.toFixed(3)})`)
  }
  const all = (amounts: Amounts): number => total(['processes', ...engines].map(name => amounts[name] ?? 0))
  if (engines.length > 0) row('ms of processor time, engines included', 3, all)
  row('ms of processor time of the processes', 3, amounts => amounts.processes ?? 0)
  for (const engine of engines) row(`ms of processor time of ${engine}`, 3, amounts => amounts[engine] ?? 0)
  row('ms in which the garbage collector stops them', 3, amounts => amounts.collector ?? 0)
  row('KB allocated', 1, amounts => (amounts.allocated ?? 0) / 1_000)
  const memory = [ours, theirs].map(({ processes }) => total(pidsOf(processes).map(pid => residentBytes(pid))) / MIB)
  console.log(`    ${'MiB of memory'.padEnd(58)} ${memory.map(mib => mib.toFixed(0).padStart(8)).join('')}`)
}
