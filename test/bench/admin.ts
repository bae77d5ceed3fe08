// How long each query of the admin API takes with many verifications stored, on each engine set. One call after the other, over HTTP.
import { Buffer } from 'node:buffer'
import process from 'node:process'
import { systemClock } from '../../infra/clock.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { CHANNELS } from '../../machines/channels.ts'
import type { OtpStatus } from '../../machines/otp.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import type { RefusalDoc } from '../../services/domain/refusals/documents.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { recipientIndexes } from '../../services/domain/verifications/lookup-indexes.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import { issued } from '../support/otp.ts'
import { documentOf } from '../support/queued-otps.ts'
import type { EngineSet, Env, Site } from '../support/site.ts'
import { durations, quantile } from './measure.ts'
import { ALL_IN_ONE, startCountersign, TOKEN } from './systems.ts'

const OTPS = Number(process.env.BENCH_OTPS ?? 100_000)
const APPS = Number(process.env.BENCH_APPS ?? 100)
const REFUSALS = 10_000
const CALLS = 20
const BATCH = 5_000
const MONTH_MS = 30 * 86_400_000
const DAY_MS = 86_400_000
/** One that is tested with all day, one that was used three times, one that never was. */
const [OFTEN, SELDOM, NEVER] = ['+447911123456', '+447911123457', '+447911123458']
const STATUSES: OtpStatus[] = ['pending', 'approved', 'failed', 'canceled']
const COUNTRIES = ['GB', 'US', 'BR', 'IN']

export default async function admin(): Promise<void> {
  await measure('embedded')
  if (MONGODB_URL && AMQP_URL) await measure('real')
  else console.log('\nFor RabbitMQ and MongoDB as well: infra/engines.sh run npm run bench -- admin')
}

async function measure(engines: EngineSet): Promise<void> {
  const system = await startCountersign(engines, ALL_IN_ONE, { prepare: fillWith(OTPS) })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const get = async (path: string) => {
    const response = await fetch(`${system.url}/admin/v1${path}`, { headers })
    const body = await response.json()
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return body as { items: { otp_id: string }[]; next_cursor: string | null }
  }
  console.log(`\n${engines} engines, ${OTPS.toLocaleString('en')} verifications in ${APPS.toLocaleString('en')} apps`)
  try {
    const [newest] = (await get('/verifications?limit=1')).items
    for (const path of queries(newest?.otp_id ?? '')) {
      const { items, next_cursor } = await get(path)
      const times = await durations(CALLS, () => get(path))
      const [median, most] = [quantile(times, 0.5), quantile(times, 1)].map(ms => ms.toFixed(1).padStart(7))
      const found = `${items?.length ?? 1}${next_cursor ? ', more' : ''}`
      console.log(`  ${path.padEnd(66)} median ${median} ms, most ${most} ms  (${found})`)
    }
  } finally {
    await system.stop()
  }
}

function queries(otp_id: string): string[] {
  const encoded = [OFTEN, SELDOM, NEVER].map(number => encodeURIComponent(number ?? ''))
  const weekAgo = new Date(Date.now() - 7 * DAY_MS).toISOString()
  return [
    '/verifications',
    ...encoded.map(recipient => `/verifications?recipient=${recipient}`),
    `/verifications?recipient=${encoded[0]}&country=DE`,
    `/verifications?otp_id=${otp_id}`,
    '/verifications?app_id=app_b1',
    '/verifications?status=expired',
    '/verifications?country=DE',
    `/verifications?channel=email&until=${weekAgo}`,
    '/apps/app_b1/verifications?status=failed',
    '/apps/app_b1/verifications?country=DE',
    `/apps/app_b1/verifications?recipient=${encoded[0]}`,
    `/verifications/${otp_id}`,
    '/refusals',
    `/refusals?recipient=${encoded[0]}`,
    '/refusals?type=InsufficientFundsError',
    '/refusals?app_id=app_b1&type=GeoBlockedError',
    '/apps/app_b1/events',
    '/audit',
    '/companies',
  ]
}

/** Stores this many verifications, in many apps of one company. */
export const fillWith =
  (otps: number) =>
  async ({ engines, env }: Site): Promise<void> => {
    const began = performance.now()
    const store: CountersignStore =
      engines === 'embedded'
        ? createEmbeddedStore({ folder: env.DATA_DIR ?? '', collections: COLLECTIONS, clock: systemClock })
        : createMongoStore({ url: env.MONGODB_URL ?? '', collections: COLLECTIONS, timeoutMs: 120_000 })
    const indexOf = createIndexOf(env)
    const app = (nth: number) => ({
      _id: `app_b${nth}`,
      company_id: 'cmp_bench',
      name: 'Bench',
      settings: {},
      created_at: 0,
      rev: 1,
    })
    await inBatches(
      APPS,
      nth => app(nth),
      docs => store.docs('apps').insert(docs),
    )
    await inBatches(
      otps,
      nth => newOtp(nth, indexOf),
      docs => store.docs('otps').insert(docs),
    )
    await inBatches(
      REFUSALS,
      nth => newRefusal(nth, indexOf),
      docs => store.docs('refusals').insert(docs),
    )
    await store.close()
    console.log(`  (filled on ${engines} engines in ${Math.round((performance.now() - began) / 1_000)} s)`)
  }

async function inBatches<T>(count: number, make: (nth: number) => T, insert: (docs: T[]) => Promise<unknown>) {
  for (let first = 0; first < count; first += BATCH)
    await insert(Array.from({ length: Math.min(BATCH, count - first) }, (_, at) => make(first + at)))
}

type IndexOf = (app_id: string, recipient: string) => string

function createIndexOf({ DATA_KEYS = '' }: Env): IndexOf {
  const [id = '', key = ''] = DATA_KEYS.split(':')
  const keyring = createKeyring({ dataKeys: [{ id, key: Buffer.from(key, 'base64') }], codeSecrets: [] })
  return (app_id, recipient) => recipientIndexes(keyring, { app_id, mode: 'test' }, recipient)[0] ?? ''
}

/** A tenth goes to one recipient in one app; three to another in three apps; the rest to as many others. */
function recipientOf(nth: number): { app: number; recipient: string } {
  if (nth % 10 === 1) return { app: 1, recipient: OFTEN ?? '' }
  const app = nth % APPS
  return { app, recipient: nth > 0 && nth < 31 && nth % 10 === 2 ? (SELDOM ?? '') : `${nth}@example.com` }
}

function newOtp(nth: number, indexOf: IndexOf): OtpDoc {
  const at = Date.now() - Math.floor(Math.random() * MONTH_MS)
  const { app, recipient } = recipientOf(nth)
  const otp_id = newId('otp', at)
  const app_id = `app_b${app}`
  const country = COUNTRIES[nth % COUNTRIES.length] ?? null
  const saved = issued({
    at,
    otp_id,
    company_id: 'cmp_bench',
    app_id,
    mode: 'test',
    link: null,
    channel: CHANNELS[nth % CHANNELS.length] ?? 'sms',
    recipient: { kind: 'phone', sealed: 'sealed', index: indexOf(app_id, recipient), masked: '+44****56', country },
  })
  return documentOf({ ...saved, value: STATUSES[Math.floor(nth / 4) % STATUSES.length] ?? 'pending' }, at)
}

function newRefusal(nth: number, indexOf: IndexOf): RefusalDoc {
  const at = Date.now() - Math.floor((nth * DAY_MS) / REFUSALS)
  const { app, recipient } = recipientOf(nth)
  const app_id = `app_b${app}`
  return {
    _id: newId('rfs', at),
    company_id: 'cmp_bench',
    app_id,
    mode: 'test',
    key_id: 'key_bench',
    at,
    request_id: null,
    type: nth % 2 === 0 ? 'GeoBlockedError' : 'RateLimitExceededError',
    scope: null,
    country: 'GB',
    masked: '+44****56',
    recipient: indexOf(app_id, recipient),
    purge_at: new Date(at + MONTH_MS),
  }
}
