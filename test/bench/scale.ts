// Whether more processes of a role do more work: one, two and four of them, on RabbitMQ and MongoDB. Each process is bounded by something
// that is not this machine, so that the machine is not what is measured:
//
//   channel   a provider that takes 400 ms to answer, and few calls at once. Messages wait in the queue before, during and after the
//             measurement, which begins when all processes are up.
//   otp       a tenth of a core for each process (cpu-quota.ts), after a warm-up without that limit. More callers than they can answer wait
//             for them; the sends are live ones of one company and app, with a price, limits, a client address and an idempotency key, so that
//             all processes write the same counters and the same balance.
//             Callers pause between their sends, each for a time of its own. Without pauses the callers of a single process fall into step
//             with it: they are answered together, come back together, and all of them are one group, which costs the least and which
//             independent callers never are (15 of 15 callers in each insert, but 26 of 60). A second process breaks the step, and the
//             comparison would measure that. What the edge refuses because too much waits already is sent again.
//
// What each process and the engines took of a core is printed too: where all of it comes near the cores of the machine, the machine was the
// limit after all. So is the number of commands to MongoDB for each message or send: a process that does more at once needs fewer.
import { availableParallelism } from 'node:os'
import process from 'node:process'
import type { Role } from '../../infra/config/config.ts'
import type { Child } from '../support/child.ts'
import { openChannelSite, queueMessages } from './channel-queue.ts'
import { createCpuQuota } from './cpu-quota.ts'
import { addressOf, launchProcess, stopProcess, waitUntilReady } from './launch.ts'
import { LIVE_SETTINGS, liveBootstrap } from './live.ts'
import { load } from './load.ts'
import { alternating } from './measure.ts'
import { type Figure, print } from './report.ts'
import { startCountersign } from './systems.ts'
import { needsRealEngines } from './under-load.ts'
import { enginesIn, type Pids, readUsage, total, type Usage } from './usage.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 1)
const PARTS = (process.env.BENCH_PARTS ?? 'channel,otp').split(',')
const WINDOW_MS = 12_000

const PROVIDER_MS = 400
const CALLS_AT_ONCE = 12
/** Of each process. Not counted, because a process that has just started is still compiling its code. */
const WARM_UP_MESSAGES = 150
/** Of each process: for the warm-up, for the window, and for the time in which messages are being queued. */
const MESSAGES = WARM_UP_MESSAGES + Math.ceil((2 * WINDOW_MS * CALLS_AT_ONCE) / PROVIDER_MS)

const CORES = 0.1
/** Of each process, like the sends of the warm-up. It always has more waiting than it can do in one period of its quota. */
const CALLERS = 25
const PAUSE_MS = 200
const WARM_UP_SENDS = 1_000
const SETTLE_MS = 4_000

interface Measured {
  perSecond: number
  /** Cores used by each process of the role, and by everything. */
  cores: { each: number[]; all: number }
  /** To MongoDB, for each unit of `perSecond`. */
  commands: number
}

type Measure = (processes: number) => Promise<Measured>

export default async function scale(): Promise<void> {
  if (!needsRealEngines('scale')) return
  const about = `${CALLS_AT_ONCE} calls at once to a provider that takes ${PROVIDER_MS} ms`
  if (PARTS.includes('channel')) await compare(`messages delivered, each process with ${about}`, measureChannel)
  const { how } = createCpuQuota(CORES)
  if (PARTS.includes('otp'))
    await compare(`live sends accepted, each otp process with ${CORES} cores (${how})`, measureOtp)
}

async function compare(what: string, measure: Measure): Promise<void> {
  const measureAndSay: Measure = async processes => {
    const measured = await measure(processes)
    console.log(`    … ${processes} at a time: ${Math.round(measured.perSecond)}/s`)
    return measured
  }
  const { one, two, four } = await alternating(
    { one: () => measureAndSay(1), two: () => measureAndSay(2), four: () => measureAndSay(4) },
    ROUNDS,
  )
  const baseline = toFigure('one process', one)
  for (const [variant, aim] of [
    [toFigure('two processes', two), 1.8],
    [toFigure('four processes', four), 3.4],
  ] as const)
    print({
      what,
      unit: 'per second',
      baseline,
      variants: [variant],
      aim: { says: `≥ ${aim}`, holds: (_, ratio) => ratio >= aim },
    })
}

const mean = (values: readonly number[]): number => total(values) / values.length

function toFigure(name: string, rounds: readonly Measured[]): Figure {
  const each = mean(rounds.flatMap(({ cores }) => cores.each))
  const all = mean(rounds.map(({ cores }) => cores.all))
  const commands = mean(rounds.map(round => round.commands)).toFixed(2)
  const note = `${each.toFixed(2)} cores each, ${all.toFixed(2)} of ${availableParallelism()} in all, ${commands} commands`
  return { name, value: mean(rounds.map(({ perSecond }) => perSecond)), note }
}

async function measureChannel(count: number): Promise<Measured> {
  const { site, engines, close } = await openChannelSite({ PROVIDER_CALLS: String(CALLS_AT_ONCE) })
  const provider = launchProcess('provider.process', {})
  const channels: Child[] = []
  try {
    const path = `/after/${PROVIDER_MS}/sms`
    const url = await addressOf(provider)
    const app = {
      id: 'app_bench',
      name: 'Shop',
      providers: [{ name: 'sms', channel: 'sms', type: 'http', config: { url: `${url}${path}` } }],
    }
    const companies = [{ id: 'cmp_bench', name: 'Bench', apps: [app] }]
    const BOOTSTRAP_FILE = await site.write('bootstrap.json', { companies })
    const env = { ...site.env, AMQP_PREFIX: site.prefix, BOOTSTRAP_FILE }
    for (let nth = 0; nth < count; nth += 1)
      channels.push(launchProcess('countersign.process', env, ['channel:sms'] satisfies Role[]))
    await Promise.all(channels.map(waitUntilReady))
    await queueMessages(engines, site, { channel: 'sms', app_id: app.id, count: MESSAGES * count })

    const arrivals = async (): Promise<{ count: number; at: number }> =>
      (await (await fetch(`${url}/arrivals${path}`)).json()) as { count: number; at: number }
    while ((await arrivals()).count < WARM_UP_MESSAGES * count) await new Promise(resolve => setTimeout(resolve, 100))
    const measured = await measureUsage(channels, [provider], async begin => {
      await begin()
      const before = await arrivals()
      await new Promise(resolve => setTimeout(resolve, WINDOW_MS))
      const after = await arrivals()
      return ((after.count - before.count) * 1_000) / (after.at - before.at)
    })
    // A process takes more than it can send at once, and returns what waits too long: so the queue itself does not tell what is left.
    const left = MESSAGES * count - (await arrivals()).count
    if (left < 2 * CALLS_AT_ONCE * count) throw new Error('Too few messages were left, so the figure says nothing.')
    return measured
  } finally {
    await Promise.all([...channels, provider].map(stopProcess))
    await close()
  }
}

async function measureOtp(count: number): Promise<Measured> {
  const quota = createCpuQuota(CORES)
  // No channel runs, so the provider is not called.
  const system = await startCountersign('real', [['edge'], ...Array.from({ length: count }, () => ['otp'] as Role[])], {
    bootstrap: liveBootstrap('http://127.0.0.1:9'),
    settings: LIVE_SETTINGS,
  })
  const [edge, ...otps] = system.processes
  const { url, key } = system
  const plan = { url, key, connections: CALLERS * count, pauseMs: PAUSE_MS, full: true, repeatRefused: true }
  try {
    await load({ ...plan, warmUpMs: 0, measureMs: Number.MAX_SAFE_INTEGER, maxRequests: WARM_UP_SENDS * count })
    for (const { process } of otps) quota.hold(process.pid ?? 0)
    return await measureUsage(otps, edge ? [edge] : [], async begin => {
      const { perSecond } = await load({ ...plan, warmUpMs: SETTLE_MS, measureMs: WINDOW_MS }, begin)
      return perSecond
    })
  } finally {
    quota.lift()
    await system.stop()
    quota.remove()
  }
}

/** Adds to a figure what was used while it was measured, since `measure` called `begin`. */
async function measureUsage(
  processes: readonly Child[],
  others: readonly Child[],
  measure: (begin: () => Promise<void>) => Promise<number>,
): Promise<Measured> {
  const { ENGINES_DIR } = process.env
  const name = (nth: number): string => `process ${nth}`
  const pids: Pids = {
    ...Object.fromEntries(processes.map(({ process }, nth) => [name(nth), [process.pid ?? 0]])),
    others: others.map(({ process }) => process.pid ?? 0),
    ...(ENGINES_DIR ? enginesIn(ENGINES_DIR) : {}),
  }
  let [before, begunAt] = [await readUsage(pids), performance.now()]
  const perSecond = await measure(async () => {
    ;[before, begunAt] = [await readUsage(pids), performance.now()]
  })
  const [after, ms] = [await readUsage(pids), performance.now() - begunAt]
  const coresOf = (who: string): number => ((after.cpu[who] ?? 0) - (before.cpu[who] ?? 0)) / ms
  const commandsIn = ({ mongodb }: Usage): number =>
    total(Object.entries(mongodb).map(([what, count]) => (what.endsWith(' commands') ? count : 0)))
  return {
    perSecond,
    commands: ((commandsIn(after) - commandsIn(before)) * 1_000) / (perSecond * ms),
    cores: { each: processes.map((_, nth) => coresOf(name(nth))), all: total(Object.keys(pids).map(coresOf)) },
  }
}
