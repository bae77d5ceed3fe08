// The longest export: more verifications than a CSV file may have, on each engine set, over HTTP. Whether the file has
// all rows it may have and says how to go on, how long it takes, how much memory the process takes for it, and how long
// others wait meanwhile.
import process from 'node:process'
import { CSV_TYPE, MORE_ROWS } from '../../infra/csv.ts'
import { MAX_CSV_ROWS } from '../../services/dashboard/csv-export.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import type { EngineSet } from '../support/site.ts'
import { fillWith } from './admin.ts'
import { quantile } from './measure.ts'
import { ALL_IN_ONE, startCountersign, TOKEN } from './systems.ts'
import { residentBytes } from './usage.ts'

/** The oldest are as old as their retention, so that some are purged meanwhile. */
const ROWS = Number(process.env.BENCH_OTPS ?? MAX_CSV_ROWS + 1_001)
const MIB = 2 ** 20
const READ_EVERY_MS = 50

export default async function csv(): Promise<void> {
  await measure('embedded')
  if (MONGODB_URL && AMQP_URL) await measure('real')
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- csv')
}

interface File {
  lines: number
  bytes: number
  cursor: string | null
}

async function measure(engines: EngineSet): Promise<void> {
  const { url, processes, stop } = await startCountersign(engines, ALL_IN_ONE, { prepare: fillWith(ROWS) })
  const pid = processes[0]?.process.pid ?? 0
  try {
    const path = `${url}/admin/v1/verifications`
    const before = residentBytes(pid)
    const memory: number[] = []
    const waits: number[] = []
    const reading = setInterval(() => memory.push(residentBytes(pid)), READ_EVERY_MS)
    let isExporting = true
    const others = (async () => {
      while (isExporting) waits.push(await timed(async () => void (await (await fetch(`${url}/healthz`)).text())))
    })()
    let first: File | undefined
    const ms = await timed(async () => {
      first = await download(path)
    })
    isExporting = false
    clearInterval(reading)
    await others
    const { lines = 0, bytes = 0, cursor = null } = first ?? {}
    const rest = cursor === null ? null : await download(`${path}?cursor=${encodeURIComponent(cursor)}`)
    const figure = (value: number) => Math.round(value).toLocaleString('en')
    console.log(`\n${engines} engines, ${figure(ROWS)} verifications`)
    console.log(
      `  ${figure(lines)} lines, ${figure(bytes / MIB)} MiB in ${figure(ms)} ms; goes on with a cursor: ${cursor !== null}`,
    )
    if (rest) console.log(`  the next file: ${figure(rest.lines)} lines, goes on: ${rest.cursor !== null}`)
    console.log(
      `  resident memory: ${figure(before / MIB)} MiB before, at most ${figure(Math.max(...memory) / MIB)} MiB meanwhile`,
    )
    const [median, last] = [0.5, 0.99].map(share => quantile(waits, share).toFixed(1))
    console.log(`  another call meanwhile: median ${median} ms, 99 % within ${last} ms`)
  } finally {
    await stop()
  }
}

/** No cell of a verification has a line break, so lines are rows. */
async function download(url: string): Promise<File> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}`, accept: CSV_TYPE } })
  if (!response.ok || !response.body) throw new Error(await response.text())
  const file: File = { lines: 0, bytes: 0, cursor: null }
  let tail = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    file.bytes += chunk.length
    const lines = `${tail}${chunk}`.split('\r\n')
    tail = lines.pop() ?? ''
    file.lines += lines.length
    const last = lines.at(-1) ?? ''
    if (last.startsWith(MORE_ROWS)) file.cursor = last.slice(MORE_ROWS.length + 1).split(',')[0] ?? null
  }
  if (tail !== '') throw new Error('the last line does not end')
  return file
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
