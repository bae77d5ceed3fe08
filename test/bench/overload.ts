// Too much load: first the peak of the system, with callers that wait for their answers; then 1, 2 and 5 times that peak, offered by
// callers that do not wait for each other. Meanwhile /healthz is asked on fresh connections. Callers, refusals and accepted sends share the
// processors of one machine, so it prints how many cores each process took: what callers and refusals take is missing for sends.
// Linux only: memory and processor time are read from /proc.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import process from 'node:process'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import { connection, requestText } from './connection.ts'
import { load } from './load.ts'
import { quantile } from './measure.ts'
import { type OpenLoopFigures, offerOpenLoop } from './open-loop.ts'
import { ALL_IN_ONE, type Countersign, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'
import { useAndClose } from './under-load.ts'
import { enginesIn, type Pids, readUsage, total } from './usage.ts'

const OFFERED = (process.env.BENCH_OFFERED ?? '1,2,5').split(',').map(Number)
const ENGINES = (process.env.BENCH_ENGINES ?? 'embedded,real').split(',')
const OFFER_MS = Number(process.env.BENCH_OFFER_MS ?? 10_000)
const PATIENCE_MS = 15_000
const HEALTH_INTERVAL_MS = 50
const MEMORY_INTERVAL_MS = 500
const PEAK = { connections: 64, warmUpMs: 8_000, measureMs: 6_000, untilDelivered: true }
const PEAK_AFTERWARDS = { ...PEAK, warmUpMs: 1_000 }

/** The aims at five times the peak. */
const AIMS = { acceptedShare: 0.9, refusedP99Ms: 200, acceptedP99Ms: 2_000, healthP99Ms: 100 }

export default async function overload(): Promise<void> {
  if (ENGINES.includes('embedded'))
    await useAndClose([startCountersign('embedded', ALL_IN_ONE)], ([one]) =>
      measure('all in one, embedded engines', one, { 'all in one': pidsOf(one.processes) }),
    )
  if (!ENGINES.includes('real')) return
  if (MONGODB_URL && AMQP_URL)
    await useAndClose([startCountersign('real', ONE_PROCESS_PER_ROLE)], ([apart]) =>
      measure('one process per role, RabbitMQ and MongoDB', apart, pidsByRole(apart)),
    )
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- overload')
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
  const peak = await load({ url, key, ...PEAK })
  console.log(
    `\n${name}: peak ${Math.round(peak.perSecond)}/s, p50 ${ms(peak.p50)}, p99 ${ms(peak.p99)} (${PEAK.connections} connections)`,
  )
  for (const times of OFFERED) {
    const observation = observe(new URL(url), pidsOf(processes), pids)
    const plan = { url, key, perSecond: peak.perSecond * times, measureMs: OFFER_MS, patienceMs: PATIENCE_MS }
    const offering = offerOpenLoop(plan)
    const meanwhile = await observation.forMs(OFFER_MS)
    print(times, peak.perSecond, await offering, meanwhile)
  }
  const { perSecond } = await load({ url, key, ...PEAK_AFTERWARDS })
  console.log(
    `  the peak afterwards: ${Math.round(perSecond)}/s, ${(perSecond / peak.perSecond).toFixed(2)} of the first; far from 1, the machine was busy with other work`,
  )
}

function observe(url: URL, own: readonly number[], pids: Pids): { forMs(durationMs: number): Promise<Meanwhile> } {
  const health: number[] = []
  const usedBefore = readUsage(pids)
  let maxRss = 0
  const probes: Promise<void>[] = []
  const probing = setInterval(() => void probes.push(probe()), HEALTH_INTERVAL_MS)
  const weighing = setInterval(() => {
    maxRss = Math.max(maxRss, total(own.map(residentBytes)))
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

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024

const ms = (value: number): string => (Number.isNaN(value) ? '-' : `${Math.round(value)} ms`)

function print(times: number, peak: number, figures: OpenLoopFigures, { health, maxRss, cores }: Meanwhile): void {
  const { accepted, refused, unanswered, otherAnswers } = figures
  const share = figures.acceptedPerSecond / peak
  const healthP99 = quantile(health, 0.99)
  const busiest = Object.entries({ 'the callers': figures.callersCpuMs / OFFER_MS, ...cores })
    .filter(([, taken]) => taken >= 0.05)
    .sort(([, one], [, other]) => other - one)
  const judge = (met: boolean): string => (times < 5 ? '' : met ? '   met' : '   MISSED')
  const rows = [
    `  ${times} × the peak: ${Math.round(figures.offeredPerSecond)}/s offered for ${OFFER_MS / 1_000} s`,
    `    answered 200   ${Math.round(figures.acceptedPerSecond)}/s, ${share.toFixed(2)} of the peak${judge(share >= AIMS.acceptedShare)}`,
    `      p50 ${ms(accepted.p50)}, p99 ${ms(accepted.p99)}${judge(accepted.p99 <= AIMS.acceptedP99Ms)}`,
    `    answered 503   ${Math.round(figures.refusedPerSecond)}/s`,
    `      p50 ${ms(refused.p50)}, p99 ${ms(refused.p99)}${judge(refused.count === 0 || refused.p99 <= AIMS.refusedP99Ms)}`,
    `    unanswered in ${PATIENCE_MS / 1_000} s: ${unanswered}${otherAnswers ? `, other answers: ${otherAnswers}` : ''}${judge(unanswered === 0)}`,
    `    /healthz       p50 ${ms(quantile(health, 0.5))}, p99 ${ms(healthP99)}, of ${health.length} fresh connections${judge(healthP99 <= AIMS.healthP99Ms)}`,
    `    cores          ${busiest.map(([who, taken]) => `${who} ${taken.toFixed(2)}`).join(', ')}, of ${availableParallelism()}`,
    `    memory         ${Math.round(maxRss / 2 ** 20)} MiB at most`,
  ]
  console.log(rows.join('\n'))
}
