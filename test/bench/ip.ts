// Address lists, on the embedded store: what a lookup costs with half a million ranges and with a thousand, how much memory they take,
// how long an import takes and how long it blocks the event loop at most.
import { Buffer } from 'node:buffer'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../../infra/clock.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import type { AddressListDoc } from '../../services/domain/address-lists/documents.ts'
import { createRunImport, importLease, newVersion } from '../../services/domain/address-lists/imports.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { type AddressClassifier, createCurrentClassifier } from '../../services/otp/limits/reputation.ts'
import { importDeps } from '../support/address-lists.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { medians, perSecond } from './measure.ts'
import { print } from './report.ts'

const MANY = Number(process.env.BENCH_RANGES ?? 500_000)
const FEW = 1_000
const MIB = 2 ** 20
const LOOKUPS = 1_000

type Family = 'IPv4' | 'IPv6'

export default async function ip(): Promise<void> {
  for (const family of ['IPv4', 'IPv6'] as const) {
    console.log(`\n${family}`)
    const few = await importAndMeasure(family, FEW)
    const many = await importAndMeasure(family, MANY)
    const asked = Array.from({ length: 4_096 }, () => addressIn(family, Math.random()))
    const figures = await medians({ few: lookups(few.view, asked), many: lookups(many.view, asked) })
    print({
      what: 'lookups',
      unit: 'per second',
      baseline: { name: `${FEW.toLocaleString('en')} ranges`, value: figures.few },
      variants: [{ name: `${MANY.toLocaleString('en')} ranges`, value: figures.many }],
      aim: { says: '≥ 0.25', holds: (_, ratio) => ratio >= 0.25 },
    })
    const { ms, longestMs, bytes } = many
    console.log(`  memory of ${MANY.toLocaleString('en')} ranges: ${(bytes / MIB).toFixed(1)} MiB`)
    console.log(
      `  import: ${(ms / 1000).toFixed(1)} s, nothing else waited longer than ${Math.round(longestMs)} ms for it`,
    )
  }
}

/** One round does thousands of lookups, because reading the clock costs more than a lookup. */
const lookups = (view: AddressClassifier, asked: readonly string[]) => {
  let nth = 0
  return perSecond(1, async () => {
    for (let at = 0; at < LOOKUPS; at += 1) view(asked[(nth + at) & 4_095] as string)
    nth += LOOKUPS
    return LOOKUPS
  })
}

async function importAndMeasure(family: Family, count: number) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const store = createEmbeddedStore({ folder, collections: COLLECTIONS, clock: systemClock, strict: true })
  try {
    const bytes = Buffer.from(listOf(family, count))
    const began = performance.now()
    const longestMs = await longestWait(() => importList(store, bytes))
    const ms = performance.now() - began
    await collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    const { log } = createCapturedLog()
    const lists = createCurrentClassifier({
      lists: store.docs('ip_lists'),
      chunks: store.docs('ip_chunks'),
      clock: systemClock,
      log,
    })
    const view = await lists()
    await collectGarbage()
    return { view, ms, longestMs, bytes: process.memoryUsage().arrayBuffers - before }
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function importList(store: CountersignStore, bytes: Uint8Array): Promise<void> {
  const now = Date.now()
  const list: AddressListDoc = {
    _id: 'abusive:bench',
    class: 'abusive',
    name: 'bench',
    rev: 0,
    source: { kind: 'given', digest: '', confirmed: false },
    refresh_seconds: null,
    version: null,
    chunks: 0,
    counts: null,
    refreshed_at: null,
    problem: null,
    ...importLease(newVersion(now), now),
  }
  await store.docs('ip_lists').insert([list])
  const run = createRunImport(importDeps(store, systemClock))
  await run(list, async () => ({ bytes, source: { kind: 'given', digest: 'x', confirmed: false } }))
}

/** The longest delay of a timer of one millisecond, in milliseconds. */
async function longestWait(work: () => Promise<void>): Promise<number> {
  let [longest, last, over] = [0, performance.now(), false]
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!over) setTimeout(look, 1)
  }
  look()
  await work()
  over = true
  look()
  return longest
}

/** Every second range, in random order. Adjacent ranges would be merged. */
function listOf(family: Family, count: number): string {
  const step = 7_919
  return Array.from({ length: count }, (_, nth) => addressIn(family, ((nth * step) % count) / count)).join('\n')
}

/** The address at this share of the public range from 11.0.0.0 to 99.255.255.255, or from 2a00:: to 2aff::. */
function addressIn(family: Family, share: number): string {
  const place = Math.floor(share * 89 * 2 ** 24)
  const at = place - (place % 2)
  if (family === 'IPv6') return `2a${hex((at >> 24) & 255)}:${((at >> 8) & 0xffff).toString(16)}:${hex(at & 255)}::`
  return [11 + (at >>> 24), (at >> 16) & 255, (at >> 8) & 255, at & 255].join('.')
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0')

/** Collects twice, because buffers are freed after their owners. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let nth = 0; nth < 2; nth += 1) {
    collect()
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
