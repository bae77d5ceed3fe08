// Whether memory stays flat: one process on embedded engines, which sends many messages; memory is read after every tenth of them.
import process from 'node:process'
import type { Child } from '../support/child.ts'
import { load } from './load.ts'
import { quantile } from './measure.ts'
import { ALL_IN_ONE, startCountersign } from './systems.ts'
import { useAndClose } from './under-load.ts'

const SENDS = Number(process.env.BENCH_SENDS ?? 200_000)
const READINGS = 10
const MIB = 2 ** 20
/** How much caches may still grow after everything has been used once. */
const MAX_GROWTH = 1.2

interface Reading {
  asked: number
  rss: number
  heapUsed: number
  external: number
}

export default async function memory(): Promise<void> {
  await useAndClose([startCountersign('embedded', ALL_IN_ONE)], async ([{ url, key, processes }]) => {
    const readings: Reading[] = []
    for (let nth = 1; nth <= READINGS; nth += 1) {
      const { perSecond } = await load({
        url,
        key,
        connections: 64,
        warmUpMs: 0,
        measureMs: Number.MAX_SAFE_INTEGER,
        untilDelivered: true,
        maxRequests: SENDS / READINGS,
      })
      const reading = await read(processes[0] as Child, nth)
      readings.push(reading)
      const sent = ((SENDS / READINGS) * nth).toLocaleString('en')
      console.log(`  after ${sent.padStart(9)} sends (${Math.round(perSecond)}/s): ${formatReading(reading)}`)
    }
    for (const member of ['heapUsed', 'rss'] as const) printVerdict(member, readings)
  })
}

async function read({ process, waitForLine }: Child, nth: number): Promise<Reading> {
  process.kill('SIGUSR2')
  return JSON.parse(await waitForLine(text => text.startsWith(`{"asked":${nth},`)))
}

const formatReading = ({ rss, heapUsed, external }: Reading): string =>
  `RSS ${mib(rss)} MiB, heap ${mib(heapUsed)} MiB, external ${mib(external)} MiB`

const mib = (bytes: number): string => (bytes / MIB).toFixed(0).padStart(4)

/** The first readings are of the warm-up. */
function printVerdict(member: 'heapUsed' | 'rss', readings: readonly Reading[]): void {
  const of = (some: readonly Reading[]): number =>
    quantile(
      some.map(reading => reading[member]),
      0.5,
    )
  const ratio = of(readings.slice(-3)) / of(readings.slice(2, 5))
  console.log(
    `  ${member}, last readings to early ones: ${ratio.toFixed(2)} ×   aim ≤ ${MAX_GROWTH}: ${ratio <= MAX_GROWTH ? 'met' : 'MISSED'}`,
  )
}
