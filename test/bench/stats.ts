// Statistics of many verifications, on each engine set: whether every cell is exact, and how long a query takes. The
// verifications are made by the machine and counted by three processes, one of which is killed again and again before
// it has stored its counts; then the sweeper counts the hours again. The rows of the admin API, over HTTP, are compared
// with a plain count of the stored verifications, and their sums with the events that the verifications had. The
// processor time of a query is that of the server and of the client, which parses the answer: it says more than the
// time on a busy machine.
import process from 'node:process'
import { newId } from '../../infra/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../infra/time.ts'
import { CHANNELS, type Channel } from '../../machines/channels.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { Otp } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import type { StatsRowAnswer } from '../../services/dashboard/stats/schemas.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { addContribution, dayOf, hourOf, newTally } from '../../services/domain/stats/contribution.ts'
import { PROGRESS_ID } from '../../services/domain/stats/documents.ts'
import { newDay, newHour } from '../../services/domain/stats/hours-and-days.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { createStatsCounter } from '../../services/otp/stats/counter.ts'
import { createStatsSweeps } from '../../services/sweeper/stats.ts'
import { closeAdmins, startAdmin, type TestAdmin } from '../support/admin-api.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import { start } from '../support/otp.ts'
import { documentOf } from '../support/queued-otps.ts'
import { type By, expectedRows, expectSameRows, type RefusedSend } from '../support/stats.ts'
import { type EngineSet, embeddedEngines, realEngines } from './engine-sets.ts'
import { quantile } from './measure.ts'

const VERIFICATIONS = Number(process.env.BENCH_OTPS ?? 100_000)
const APP = 'app_bench'
const FULL_APP = 'app_full'
const NOW = Date.UTC(2030, 5, 15, 12, 30)
const BATCH = 1_000
const TIMES = 5
const MAX_MS = 100
const DAYS_OF_HOURS = 30
const YEAR_DAYS = 365
/** The hours that the sweeper counts again: in these a process is killed. */
const RECOUNTED = { fromMs: 21 * HOUR_MS, toMs: 6 * HOUR_MS }
const COUNTRIES = Array.from(
  { length: 60 },
  (_, nth) => `${String.fromCharCode(65 + (nth % 26))}${nth < 26 ? 'A' : nth < 52 ? 'B' : 'C'}`,
)
const PROVIDERS = ['main', 'second', 'third']
const BYS: By[] = [undefined, 'channel', 'country', 'provider']

export default async function stats(): Promise<void> {
  await measure(embeddedEngines)
  if (MONGODB_URL && AMQP_URL) await measure(realEngines(MONGODB_URL, AMQP_URL))
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- stats')
}

async function measure(engines: EngineSet): Promise<void> {
  console.log(`\n${engines.title}`)
  const { store, close } = await engines.store(COLLECTIONS)
  const clock = testClock(NOW)
  for (const _id of [APP, FULL_APP])
    await store.docs('apps').insert([{ _id, company_id: 'cmp_1', name: 'Bench', settings: {}, created_at: 0, rev: 0 }])
  const admin = await startAdmin(store, { clock })
  try {
    await compareAll(store, clock, admin)
    await fillUp(store)
    await queryAll(admin, FULL_APP, () => {})
  } finally {
    await closeAdmins()
    await close()
  }
}

async function compareAll(store: CountersignStore, clock: TestClock, admin: TestAdmin): Promise<void> {
  const { events, refused } = await playAll(store, clock)
  await recountAll(store, clock)
  const otps: OtpDoc[] = []
  for (let after = ''; ; ) {
    const page = await store.docs('otps').find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: 5_000 })
    otps.push(...page)
    if (page.length === 0) break
    after = page.at(-1)?._id ?? ''
  }
  let cells = 0
  await queryAll(admin, APP, (rows, by, bucketMs) => {
    cells += expectSameRows(rows, expectedRows(otps, refused, by, bucketMs), by)
    const sum = (name: 'approved' | 'failed' | 'delivered') => rows.reduce((all, row) => all + row[name], 0)
    const counted = {
      'otp.approved': sum('approved'),
      'otp.failed': sum('failed'),
      'delivery.delivered': sum('delivered'),
    }
    for (const [type, count] of Object.entries(counted))
      if (events.get(type) !== count) throw new Error(`${count} are counted of ${events.get(type)} ${type}`)
  })
  console.log(`  ${cells.toLocaleString('en')} cells of ${otps.length.toLocaleString('en')} verifications are exact`)
}

/** Plays all verifications, stores and counts them. Every third is counted by a process that is killed, where hours are counted again. */
async function playAll(store: CountersignStore, clock: TestClock) {
  const { log } = createCapturedLog()
  const newCounter = () => createStatsCounter({ store, clock, log })
  const counters = [newCounter(), newCounter()]
  let killed = newCounter()
  const events = new Map<string, number>()
  const refused: RefusedSend[] = []
  const began = performance.now()
  let countingMs = 0
  for (let first = 0; first < VERIFICATIONS; first += BATCH) {
    const docs: OtpDoc[] = []
    for (let nth = first; nth < Math.min(first + BATCH, VERIFICATIONS); nth += 1) {
      const at = NOW - Math.floor((nth / VERIFICATIONS) * (DAYS_OF_HOURS - 1) * DAY_MS) - 5 * HOUR_MS
      const life = play(nth, at, events)
      const isKilled = nth % 3 === 0 && at > NOW - RECOUNTED.fromMs && at < NOW - RECOUNTED.toMs
      const counter = isKilled ? killed : counters[nth % 2]
      const beganCounting = performance.now()
      for (const [position, after] of life.entries()) counter?.onChange(life[position - 1] ?? null, after)
      countingMs += performance.now() - beganCounting
      docs.push(life.at(-1) as OtpDoc)
      if (nth % 50 === 0) {
        const country = COUNTRIES[nth % 60] ?? null
        counters[0]?.countRefusal({ app_id: APP, mode: 'live', country, at })
        refused.push({ at, country })
      }
    }
    await store.docs('otps').insert(docs)
    await Promise.all(counters.map(counter => counter.settled()))
    killed = newCounter()
  }
  const seconds = Math.round((performance.now() - began) / 1_000)
  const micros = ((countingMs / VERIFICATIONS) * 1_000).toFixed(1)
  console.log(
    `  (${VERIFICATIONS.toLocaleString('en')} verifications played in ${seconds} s; counting one took ${micros} µs)`,
  )
  return { events, refused }
}

/** A verification from its start to its end: its documents after each change. */
function play(nth: number, at: number, events: Map<string, number>): OtpDoc[] {
  const _id = newId('otp', at)
  const mode = nth % 10 === 9 ? ('test' as const) : ('live' as const)
  const order = [CHANNELS[nth % 4], CHANNELS[(nth + 1) % 4]] as Channel[]
  const country = order[0] === 'email' ? null : (COUNTRIES[(nth * 7) % 60] ?? null)
  const recipient = { kind: 'phone' as const, sealed: 's', index: _id, masked: 'm', country }
  const own = { otp_id: _id, company_id: 'cmp_1', app_id: APP, mode, at, order, recipient, link: null }
  let now: Step = step(null, start({ ...own, delivery_id: `${_id}:1` }))
  const docs = [docOf(now.saved, nth, at)]
  for (const command of commandsOf(nth, at, _id)) {
    now = step(now.saved, command)
    for (const effect of now.effects)
      if (effect.type === 'notify') events.set(effect.event, (events.get(effect.event) ?? 0) + 1)
    if (now.changed) docs.push(docOf(now.saved, nth, at))
  }
  return docs
}

const MORE = { usable: CHANNELS as unknown as Channel[], link: null, prices: {}, event_id: 'evt' }
const BY = { key_id: 'key_server', kind: 'server' as const }

function commandsOf(nth: number, at: number, _id: string): OtpCommand[] {
  const id = (name: string) => `${_id}:${name}`
  const report = (delivery: number, status: 'sent' | 'delivered' | 'failed', ms: number): OtpCommand => ({
    ...MORE,
    id: id(`${delivery}:${status}`),
    type: 'delivery.reported',
    at: at + ms,
    delivery_id: `${_id}:${delivery}`,
    status,
    new_delivery_id: '',
  })
  const verify = (guess: number, right: boolean, ms: number): OtpCommand => ({
    id: id(`verify:${guess}`),
    type: 'otp.verify',
    at: at + ms,
    by: BY,
    right,
    locked_ms: null,
    event_id: 'evt',
  })
  const resend: OtpCommand = {
    ...MORE,
    id: id('resend'),
    type: 'otp.resend',
    obstacle: null,
    at: at + 40_000,
    requestedChannel: null,
    new_delivery_id: `${_id}:2`,
  }
  const commands = [report(1, 'sent', 100), report(1, nth % 11 === 0 ? 'failed' : 'delivered', 2_000 + (nth % 9_000))]
  if (nth % 4 === 1) commands.push(resend, report(2, 'sent', 40_100), report(2, 'delivered', 45_000))
  if (nth % 7 === 0) for (let guess = 0; guess < 5; guess += 1) commands.push(verify(guess, false, 60_000 + guess))
  if (nth % 7 < 5) commands.push(verify(9, true, 3_000 + ((nth * 37) % 400) * 1_000))
  commands.push({ id: id('lapse'), type: 'otp.lapse', at: at + HOUR_MS })
  return commands
}

function docOf(saved: SavedOtp, nth: number, at: number): OtpDoc {
  const provider = PROVIDERS[nth % 3] ?? ''
  const context: Otp = {
    ...saved.context,
    deliveries: saved.context.deliveries.map(one => (one.status === 'queued' ? one : { ...one, provider })),
  }
  return { ...documentOf({ ...saved, context }, at), purge_at: new Date(Date.now() + 30 * DAY_MS) }
}

async function recountAll(store: CountersignStore, clock: TestClock): Promise<void> {
  const { log } = createCapturedLog()
  const next_hour = hourOf(NOW - DAYS_OF_HOURS * DAY_MS)
  await store.docs('stats_progress').insert([{ _id: PROGRESS_ID, next_hour, next_day: dayOf(next_hour), rev: 1 }])
  const { stats: sweep } = createStatsSweeps({ store, clock, log })
  await clock.advance(2 * MINUTE_MS)
  const began = performance.now()
  let recountedTo = 0
  for (let idle = 0; idle < 3; ) {
    for (let runs = 0; runs < 50; runs += 1) await sweep?.([0])
    await clock.advance(30_000)
    const before = recountedTo
    recountedTo = (await store.docs('stats_progress').get([PROGRESS_ID])).get(PROGRESS_ID)?.next_hour ?? 0
    idle = before === recountedTo ? idle + 1 : 0
  }
  console.log(
    `  (counted again up to ${new Date(recountedTo).toISOString()} in ${Math.round(performance.now() - began)} ms)`,
  )
}

/** An app with every channel, country and provider in every hour of a month and every day of a year. */
async function fillUp(store: CountersignStore): Promise<void> {
  const tally = newTally()
  for (let nth = 0; nth < 720; nth += 1)
    for (const doc of play(nth, NOW, new Map()).slice(-1)) addContribution(tally, doc)
  const refused = Object.fromEntries(COUNTRIES.map((country, nth) => [country, nth + 1]))
  for (const mode of ['live', 'test'] as const) {
    const hours = Array.from({ length: 31 * 24 }, (_, nth) =>
      newHour({ app_id: FULL_APP, mode, start: hourOf(NOW) - nth * HOUR_MS }, tally, refused),
    )
    await store.docs('stats_hours').insert(hours)
    const days = Array.from({ length: YEAR_DAYS }, (_, nth) =>
      newDay({ app_id: FULL_APP, mode, start: dayOf(NOW) - nth * DAY_MS }, hours.slice(0, 24)),
    )
    await store.docs('stats_days').insert(days)
  }
}

async function queryAll(
  admin: TestAdmin,
  app: string,
  inspect: (rows: StatsRowAnswer[], by: By, bucketMs: number) => void,
): Promise<void> {
  for (const bucket of ['hour', 'day'] as const)
    for (const by of BYS) {
      const days = bucket === 'day' && app === FULL_APP ? YEAR_DAYS - 1 : DAYS_OF_HOURS
      const rows: StatsRowAnswer[] = []
      const ms: number[] = []
      const processorMs: number[] = []
      let most = 0
      for (const { since, until } of windows(days, by === 'country' ? (bucket === 'hour' ? 7 : 100) : days + 1)) {
        const path = `/apps/${app}/stats?bucket=${bucket}&since=${since}&until=${until}${by === undefined ? '' : `&by=${by}`}`
        let found: StatsRowAnswer[] = []
        for (let round = 0; round < TIMES; round += 1) {
          const [began, used] = [performance.now(), process.cpuUsage()]
          found = (await admin.get(path)).body.items
          ms.push(performance.now() - began)
          const { user, system } = process.cpuUsage(used)
          processorMs.push((user + system) / 1_000)
        }
        rows.push(...found)
        most = Math.max(most, found.length)
      }
      inspect(rows, by, bucket === 'hour' ? HOUR_MS : DAY_MS)
      const [median, processor] = [quantile(ms, 0.5), quantile(processorMs, 0.5)]
      const what = `${app} ${bucket}s by ${by ?? 'nothing'}`.padEnd(32)
      const verdict = Math.min(median, processor) < MAX_MS ? 'ok' : `MORE THAN ${MAX_MS} ms`
      console.log(
        `  ${what} ${String(most).padStart(6)} rows  median ${median.toFixed(1).padStart(6)} ms, ${processor.toFixed(1).padStart(6)} ms of processor time  ${verdict}`,
      )
    }
}

/** The last `days` days up to now, in queries of so many days each. */
function windows(days: number, each: number): { since: string; until: string }[] {
  const end = dayOf(NOW) + DAY_MS
  const starts = Array.from(
    { length: Math.ceil((days + 1) / each) },
    (_, nth) => end - (days + 1 - nth * each) * DAY_MS,
  )
  return starts.map(start => ({
    since: new Date(start).toISOString(),
    until: new Date(Math.min(start + each * DAY_MS, end)).toISOString(),
  }))
}
