// Too much load, against the best that the system reaches in the same run, with callers that wait for their answers. The best is measured
// before and after each of them, and the mean counts, because the rate of a shared machine changes within a minute:
//
//   retry storm   many callers on kept connections, each of which makes its next send as soon as the last one is answered or refused
//   open loop     multiples of the best, offered by callers that do not wait for each other
//
// Meanwhile /healthz is asked on fresh connections. Callers, refusals and accepted sends share the processors of one
// machine, so it prints how many cores each process took: what callers and refusals take is missing for sends. One
// process per role: the edge goes before the others, as it does in a deployment that gives it processors of its own
// (docs/decisions/overload.md). Otherwise it would wait for them, and with it every refusal. Linux only: memory and
// processor time are read from /proc.
import { availableParallelism, getPriority, loadavg, setPriority } from 'node:os'
import process from 'node:process'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import type { AnswerFigures } from './answers.ts'
import { connection, requestText } from './connection.ts'
import { load } from './load.ts'
import { quantile } from './measure.ts'
import { offerOpenLoop } from './open-loop.ts'
import { startRetryStorm } from './retry-storm.ts'
import { ALL_IN_ONE, type Countersign, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'
import { useAndClose } from './under-load.ts'
import { enginesIn, type Pids, readUsage, residentBytes, total } from './usage.ts'

const ENGINES = (process.env.BENCH_ENGINES ?? 'embedded,real').split(',')
const PEAK_MS = Number(process.env.BENCH_PEAK_MS ?? 6_000)
const CALLERS = Number(process.env.BENCH_CALLERS ?? 2_500)
const STORM_MS = Number(process.env.BENCH_STORM_MS ?? 12_000)
const OFFERED = (process.env.BENCH_OFFERED ?? '5').split(',').filter(Boolean).map(Number)
const OFFER_MS = Number(process.env.BENCH_OFFER_MS ?? 10_000)
/** With several, the medians of the shares are printed too. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 1)
const PATIENCE_MS = 15_000
const HEALTH_INTERVAL_MS = 50
const MEMORY_INTERVAL_MS = 500
const PEAK = { connections: 64, warmUpMs: 8_000, untilDelivered: true }
/** More callers make larger batches. They may be refused now and then. */
const MORE_CALLERS = 256
const NOTHING_AFTERWARDS = { callersAfterwards: 0, recoverMs: 0, afterwardsMs: 0 }
const AFTERWARDS = { callersAfterwards: 64, recoverMs: 3_000, afterwardsMs: 3_000 }

/** Shares are of the best. */
const AIMS = {
  storm: { acceptedShare: 0.8, acceptedP99Ms: 3_000 },
  /** The share at 5 × the best is that of refusals at once, which this run cannot show. */
  openLoop: { acceptedShare: 0.65, acceptedP99Ms: 3_000 },
  refusedP99Ms: 2_100,
  healthP99Ms: 500,
  moreMemoryMiB: 256,
  shareAfterwards: 0.9,
}

export default async function overload(): Promise<void> {
  if (ENGINES.includes('embedded'))
    await useAndClose([startCountersign('embedded', ALL_IN_ONE)], ([one]) =>
      measure('all in one, embedded engines', one, { 'all in one': pidsOf(one.processes) }),
    )
  if (!ENGINES.includes('real')) return
  if (MONGODB_URL && AMQP_URL)
    await useAndClose([startCountersign('real', ONE_PROCESS_PER_ROLE)], ([apart]) => {
      const how = letEdgeGoFirst(apart)
        ? 'the edge goes first'
        : 'the edge WAITS FOR THE OTHERS, because only root may change that'
      return measure(`one process per role, RabbitMQ and MongoDB, ${how}`, apart, pidsByRole(apart))
    })
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- overload')
}

const PRIORITY = 10

function letEdgeGoFirst({ processes }: Countersign): boolean {
  const [edge = 0] = pidsOf(processes)
  try {
    setPriority(edge, getPriority() - PRIORITY)
    return true
  } catch {
    return false
  }
}

interface Meanwhile {
  health: number[]
  /** Cores that each process and engine took, on average. */
  cores: Record<string, number>
  /** Bytes of all processes of the system together. */
  maxRss: number
}

/** The engines are in it where they run on this machine and were started for the bench. */
const pidsByRole = ({ processes }: Countersign): Pids => ({
  ...(process.env.ENGINES_DIR ? enginesIn(process.env.ENGINES_DIR) : {}),
  ...Object.fromEntries(pidsOf(processes).map((pid, at) => [ONE_PROCESS_PER_ROLE[at]?.join() ?? '', [pid]])),
})

async function measure(name: string, { url, key, processes }: Countersign, pids: Pids): Promise<void> {
  const own = pidsOf(processes)
  const callers = { url, key, patienceMs: PATIENCE_MS }

  /** `few`: of the few callers alone. */
  async function measureBest(): Promise<{ best: number; few: number }> {
    const few = (await load({ url, key, ...PEAK, measureMs: PEAK_MS })).perSecond
    const crowd = startRetryStorm({ ...callers, callers: MORE_CALLERS, stormMs: PEAK_MS, ...NOTHING_AFTERWARDS })
    await crowd.begun
    const { cores } = await observe(new URL(url), own, pids).forMs(PEAK_MS)
    const many = (await crowd.figures).acceptedPerSecond
    const best = Math.max(few, many)
    console.log(
      `  best: ${perSecond(best)} (${PEAK.connections} callers ${perSecond(few)}, ${MORE_CALLERS} callers ${perSecond(many)}); load of the machine ${loadavg()[0]?.toFixed(1)}; cores ${coresTaken(cores)}`,
    )
    return { best, few }
  }

  console.log(`\n${name}`)
  const shares = new Map<string, number[]>()
  const noteShare = (of: string, share: number): void => void shares.set(of, [...(shares.get(of) ?? []), share])
  let bestBefore = await measureBest()
  const rssBefore = total(own.map(pid => residentBytes(pid)))
  /** The means of the best before and after what was played. */
  async function bestAround(): Promise<{ best: number; few: number }> {
    const before = bestBefore
    bestBefore = await measureBest()
    return { best: (before.best + bestBefore.best) / 2, few: (before.few + bestBefore.few) / 2 }
  }

  const print = (
    title: string,
    aims: (typeof AIMS)['storm'],
    durationMs: number,
    best: number,
    figures: AnswerFigures,
    { health, cores, maxRss }: Meanwhile,
    more: readonly Row[],
  ): void => {
    const { accepted, refused, unanswered, otherAnswers, callersCpuMs } = figures
    const share = figures.acceptedPerSecond / best
    noteShare(title, share)
    const healthP99 = quantile(health, 0.99)
    const moreMiB = (maxRss - rssBefore) / 2 ** 20
    printRows(title, [
      {
        what: 'accepted',
        measured: `${perSecond(figures.acceptedPerSecond)}, ${share.toFixed(2)} of the best`,
        aim: atLeast(aims.acceptedShare, share),
      },
      {
        what: '  p99',
        measured: `${ms(accepted.p99)} (p50 ${ms(accepted.p50)})`,
        aim: atMost(aims.acceptedP99Ms, accepted.count === 0 ? Number.POSITIVE_INFINITY : accepted.p99, ' ms'),
      },
      { what: 'refused', measured: perSecond(figures.refusedPerSecond) },
      {
        what: '  p99',
        measured: `${ms(refused.p99)} (p50 ${ms(refused.p50)}, latest ${ms(refused.max)})`,
        aim: atMost(AIMS.refusedP99Ms, refused.count === 0 ? 0 : refused.p99, ' ms'),
      },
      { what: `unanswered in ${PATIENCE_MS / 1_000} s`, measured: String(unanswered), aim: atMost(0, unanswered) },
      { what: 'other answers', measured: String(otherAnswers), aim: atMost(0, otherAnswers) },
      {
        what: '/healthz p99',
        measured: `${ms(healthP99)}, of ${health.length} fresh connections`,
        aim: atMost(AIMS.healthP99Ms, healthP99, ' ms'),
      },
      {
        what: 'memory',
        measured: `${mib(maxRss)}, ${Math.round(moreMiB)} MiB more than before`,
        aim: atMost(AIMS.moreMemoryMiB, moreMiB, ' MiB'),
      },
      ...more,
      { what: 'cores', measured: coresTaken({ 'the callers': callersCpuMs / durationMs, ...cores }) },
    ])
  }

  async function playStorm(): Promise<void> {
    const storm = startRetryStorm({ ...callers, callers: CALLERS, stormMs: STORM_MS, ...AFTERWARDS })
    await storm.begun
    const meanwhile = await observe(new URL(url), own, pids).forMs(STORM_MS)
    const figures = await storm.figures
    const [after, { best, few }] = [figures.acceptedPerSecondAfterwards, await bestAround()]
    const afterwards = `${AFTERWARDS.recoverMs / 1_000} s afterwards`
    noteShare(afterwards, after / few)
    print(
      `retry storm of ${CALLERS} callers for ${STORM_MS / 1_000} s`,
      AIMS.storm,
      STORM_MS,
      best,
      figures,
      meanwhile,
      [
        {
          what: afterwards,
          measured: `${perSecond(after)}, ${(after / few).toFixed(2)} of ${PEAK.connections} callers' best`,
          aim: atLeast(AIMS.shareAfterwards, after / few),
        },
      ],
    )
  }

  async function playOpenLoop(times: number): Promise<void> {
    const observation = observe(new URL(url), own, pids)
    const plan = { ...callers, perSecond: bestBefore.best * times, measureMs: OFFER_MS }
    const offering = offerOpenLoop(plan)
    const meanwhile = await observation.forMs(OFFER_MS)
    const figures = await offering
    console.log(`  ${perSecond(figures.offeredPerSecond)} were offered`)
    const title = `open loop of ${times} × the best for ${OFFER_MS / 1_000} s`
    const { best } = await bestAround()
    print(title, AIMS.openLoop, OFFER_MS, best, figures, meanwhile, [])
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    if (STORM_MS > 0) await playStorm()
    for (const times of OFFERED) await playOpenLoop(times)
  }
  if (ROUNDS > 1)
    for (const [of, all] of shares)
      console.log(
        `  ${of}: ${quantile(all, 0.5).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`,
      )
}

function observe(url: URL, own: readonly number[], pids: Pids): { forMs(durationMs: number): Promise<Meanwhile> } {
  const health: number[] = []
  const usedBefore = readUsage(pids)
  let maxRss = 0
  const probes: Promise<void>[] = []
  const probing = setInterval(() => void probes.push(probe()), HEALTH_INTERVAL_MS)
  const weighing = setInterval(() => {
    maxRss = Math.max(maxRss, total(own.map(pid => residentBytes(pid))))
  }, MEMORY_INTERVAL_MS)

  async function probe(): Promise<void> {
    const begin = performance.now()
    const lane = connection(url)
    const giveUp = setTimeout(() => lane.close(), PATIENCE_MS)
    // A probe without an answer counts with the time it waited.
    await lane.ask(requestText(url, { method: 'GET', path: '/healthz', key: '' })).catch(() => undefined)
    clearTimeout(giveUp)
    health.push(performance.now() - begin)
    lane.close()
  }

  return {
    async forMs(durationMs) {
      await new Promise(resolve => setTimeout(resolve, durationMs))
      clearInterval(probing)
      clearInterval(weighing)
      const [before, after] = [await usedBefore, await readUsage(pids)]
      const cores = Object.entries(after.cpu).map(([who, ms]) => [who, (ms - (before.cpu[who] ?? 0)) / durationMs])
      await Promise.all(probes)
      return { health, maxRss, cores: Object.fromEntries(cores) }
    },
  }
}

const pidsOf = (processes: Countersign['processes']): number[] => processes.map(({ process }) => process.pid ?? 0)

/** JSON has null for the quantile of nothing. */
const ms = (value: number | null): string => (value === null || Number.isNaN(value) ? '-' : `${Math.round(value)} ms`)
const perSecond = (value: number): string => `${Math.round(value)}/s`
const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

const coresTaken = (cores: Record<string, number>): string =>
  Object.entries(cores)
    .filter(([, taken]) => taken >= 0.05)
    .sort(([, one], [, other]) => other - one)
    .map(([who, taken]) => `${who} ${taken.toFixed(2)}`)
    .join(', ')
    .concat(`, of ${availableParallelism()}`)

interface Row {
  what: string
  measured: string
  aim?: Aim
}

interface Aim {
  text: string
  met: boolean
}

const atLeast = (aim: number, figure: number, unit = ''): Aim => ({
  text: `≥ ${aim}${unit}`,
  met: figure >= aim,
})
const atMost = (aim: number, figure: number, unit = ''): Aim => ({ text: `≤ ${aim}${unit}`, met: figure <= aim })

function printRows(title: string, rows: readonly Row[]): void {
  console.log(`  ${title}`)
  for (const { what, measured, aim } of rows)
    console.log(
      `    ${what.padEnd(20)} ${measured.padEnd(46)} ${aim ? `${aim.text.padEnd(10)} ${aim.met ? 'met' : 'MISSED'}` : ''}`.trimEnd(),
    )
}
