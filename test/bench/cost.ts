// What a request costs: processor time over all processes and engines, of a send with its delivery, receipt and event, and of a verify.
// Each is compared with the floor (floor.ts), which is measured three times, because other work on the machine changes it; the median
// counts. Useful on a machine that is too busy to measure speed. What a process does while it waits is in the figures, so a slow run
// is dearer: the rate is printed as well.
import process from 'node:process'
import { startLive } from './live.ts'
import { type Figures, type LoadPlan, load } from './load.ts'
import {
  ALL_IN_ONE,
  type Countersign,
  ONE_PROCESS_PER_ROLE,
  type System,
  startBare,
  startCountersign,
  startFloor,
} from './systems.ts'
import { needsRealEngines } from './under-load.ts'
import { enginesIn, type Pids, readUsage, total, type Usage, usagePerRequest } from './usage.ts'

const SENDS = Number(process.env.BENCH_SENDS ?? 5_000)
const WARM_UP = 3_000
/** Long enough for work that is done a moment later: the outbox is cleared, counts are flushed. */
const SETTLE_MS = 4_500
const FINISHED_POLL_MS = 200
const ROLES = ONE_PROCESS_PER_ROLE.map(role => role.join())

export default async function cost(): Promise<void> {
  const { ENGINES_DIR } = process.env
  if (!needsRealEngines('cost')) return
  if (!ENGINES_DIR) return console.log('The engines must be ours: infra/engines.sh run npm run bench -- cost')
  const engines = enginesIn(ENGINES_DIR)
  const measureFloor = () =>
    withSystem(startFloor(), system => costOf(pidsOf(system, ['edge', 'actor', 'channel'], engines), sends(system)))

  const floors = [await measureFloor()]
  const bare = await withSystem(startBare(), system =>
    costOf(pidsOf(system, ['edge', 'actor'], engines), sends(system)),
  )
  const [send, verify] = await withSystem(startCountersign('real', ONE_PROCESS_PER_ROLE), async system => {
    const pids = pidsOf(system, ROLES, engines)
    return [await costOf(pids, sends(system, { untilDelivered: true })), await costOf(pids, verifies(system))] as const
  })
  floors.push(await measureFloor())
  const embedded = await withSystem(startCountersign('embedded', ALL_IN_ONE), system =>
    costOf(pidsOf(system, ['all in one'], {}), sends(system, { untilDelivered: true })),
  )
  const live = await withSystem(startLive(), system =>
    costOf(pidsOf(system, ROLES, engines), sends(system, { full: true })),
  )
  floors.push(await measureFloor())

  const medianFloor = floors.toSorted((one, other) => sum(one) - sum(other))[1] as Cost
  const floor = sum(medianFloor)
  show('floor, a send', medianFloor)
  show('bare pipeline, a send', bare)
  show('one process per role, a send', send)
  show('all in one on embedded engines, a send', embedded)
  show('live, one process per role, a send', live)
  show('one process per role, a verify', verify)
  console.log('\n  processor time in ms, and its ratio to the floor')
  compare(`floor (${floors.map(usage => sum(usage).toFixed(2)).join(', ')})`, floor, floor)
  compare('bare pipeline, which delivers nothing', sum(bare), floor)
  compare('send, one process per role', sum(send), floor, 2)
  compare('send, all in one on embedded engines', sum(embedded), floor, 1)
  compare('send, live, one process per role', sum(live), floor, 3)
  compare('verify, one process per role', sum(verify), floor)
}

export async function withSystem<S extends System, T>(
  starting: Promise<S>,
  use: (system: S) => Promise<T>,
): Promise<T> {
  const system = await starting
  try {
    return await use(system)
  } finally {
    await system.stop()
  }
}

export const pidsOf = ({ processes }: System, names: readonly string[], engines: Pids): Pids => ({
  ...engines,
  ...Object.fromEntries(processes.map(({ process }, at) => [names[at], [process.pid ?? 0]])),
})

/** Makes so many requests, and calls `begin` before the first that counts. */
type Run = (requests: number, begin: () => Promise<void>) => Promise<Figures>

interface Cost extends Usage {
  perSecond: number
}

async function costOf(pids: Pids, run: Run): Promise<Cost> {
  await run(WARM_UP, async () => {})
  let before = await readUsage(pids)
  const { perSecond } = await run(SENDS, async () => {
    await settle()
    before = await readUsage(pids)
  })
  await settle()
  return { ...usagePerRequest(before, await readUsage(pids), SENDS), perSecond }
}

export const settle = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve, SETTLE_MS))

const planFor = ({ url, key }: System): LoadPlan => ({
  url,
  key,
  connections: 64,
  warmUpMs: 0,
  measureMs: Number.MAX_SAFE_INTEGER,
})

function sends(system: System, more: Partial<LoadPlan> = {}): Run {
  let sent = 0
  return async (requests, begin) => {
    sent += requests
    const figures = await load({ ...planFor(system), ...more, maxRequests: requests }, begin)
    while (system.countFinished && (await system.countFinished()) < sent)
      await new Promise(resolve => setTimeout(resolve, FINISHED_POLL_MS))
    return figures
  }
}

const verifies =
  (system: Countersign): Run =>
  (requests, begin) =>
    load({ ...planFor(system), verify: { verifications: requests, env: system.env } }, begin)

const sum = ({ cpu }: Usage): number => total(Object.values(cpu))

function show(what: string, usage: Cost): void {
  const all = sum(usage)
  console.log(`  ${what}: ${all.toFixed(2)} ms of processor time, at ${Math.round(usage.perSecond)}/s`)
  const dearest = Object.entries(usage.cpu).sort(([, one], [, other]) => other - one)
  for (const [who, ms] of dearest)
    console.log(`    ${who.padEnd(20)} ${ms.toFixed(3)} ms   ${Math.round((100 * ms) / all)} %`)
  for (const [what, count] of Object.entries(usage.mongodb)) console.log(`    ${what.padEnd(24)} ${count.toFixed(3)}`)
}

function compare(what: string, ms: number, floor: number, aim?: number): void {
  const ratio = ms / floor
  const verdict = aim === undefined ? '' : `   aim ≤ ${aim}: ${ratio <= aim ? 'met' : 'MISSED'}`
  console.log(`    ${what.padEnd(44)} ${ms.toFixed(2).padStart(6)}   ${ratio.toFixed(2).padStart(6)} ×${verdict}`)
}
