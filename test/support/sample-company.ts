// A company as it looks after some weeks of use, for tests that look at whole screens. In: a running Countersign on the
// embedded engines. Out: apps, keys, users, providers, an endpoint, money, verifications that went well and badly,
// refusals, a dead letter, and statistics of a month.
import { newId } from '../../infra/ids.ts'
import { DAY_MS, HOUR_MS } from '../../infra/time.ts'
import type { RefusalDoc } from '../../services/domain/refusals/documents.ts'
import { REFUSAL_RETENTION_MS } from '../../services/domain/retention.ts'
import { hourId, type StatsDoc } from '../../services/domain/stats/documents.ts'
import { type Answer, ask, createCaller } from './api-caller.ts'
import type { Countersign } from './countersign.ts'
import { eventually } from './eventually.ts'
import { type AnswerRequest, type Receiver, startReceiver } from './receiver.ts'
import { type GivenFact, storeFacts } from './route-facts.ts'

export const SAMPLE_ENV = {
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  CHANNEL_BACKOFF: '50',
  PROVIDER_TIMEOUT: '2000',
  WEBHOOK_BACKOFF: '100,60000',
}

interface SampleCompany {
  company: string
  app: string
  /** A verification whose code did not arrive. */
  failedOtp: string
  close(): Promise<void>
}

const [COMPANY, APP] = ['cmp_acme', 'app_acmeshop']
const LIVE_KEY = 'sk_live_acmeshop0123456789abcdefgh'
const TEST_KEY = 'sk_test_acmeshop0123456789abcdefgh'
const PUBLISHABLE_KEY = 'pk_live_acmeshop0123456789abcdefgh'
/** The gateway says that no phone has it. */
const DEAD_NUMBER = '+14155550199'

/** The more often, the more frequent. */
const REFUSALS = [
  { type: 'RateLimitExceededError', scope: 'recipient' },
  { type: 'RateLimitExceededError', scope: 'client_ip' },
  { type: 'RateLimitExceededError', scope: 'fraud_guard' },
  { type: 'InvalidRecipientError', scope: null },
  { type: 'InvalidRecipientError', scope: null },
  { type: 'NoEnabledChannelError', scope: null },
] as const satisfies readonly Pick<RefusalDoc, 'type' | 'scope'>[]

const COUNTRIES = ['US', 'GB', 'DE', 'BR', 'IN', 'FR']

/** Numbers that look random and are the same in every run. */
function createDice(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

export async function createSampleCompany(countersign: Countersign): Promise<SampleCompany> {
  const receivers: Receiver[] = []
  const receive = async (answer: AnswerRequest): Promise<string> => {
    const receiver = await startReceiver(answer)
    receivers.push(receiver)
    return `http://127.0.0.1:${receiver.port}`
  }
  const gateway = await receive(({ body }, response) => {
    const refused = body.toString().includes(DEAD_NUMBER)
    response.writeHead(refused ? 400 : 200, { 'Content-Type': 'application/json' })
    response.end(refused ? '{"error":"unknown subscriber"}' : '{"ok":true}')
  })
  const busyGateway = await receive((_, response) => void response.writeHead(503).end('Try again later'))
  const backend = await receive((_, response) => void response.end('thanks'))

  const token = countersign.secrets.adminTokens[0]?.token ?? ''
  const admin = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await ask(`${countersign.url}/admin/v1${path}`, {
      method,
      token,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer
  }
  await admin('PUT', `/apps/${APP}/providers/backup-gateway`, httpProvider(`${gateway}/send`, 1))
  await admin('PUT', `/apps/${APP}/providers/main-gateway`, httpProvider(`${busyGateway}/send`, 0))
  await admin('PUT', `/apps/${APP}/webhook`, { url: `${backend}/countersign` })
  const crm = { name: 'CRM', events: ['otp.approved', 'otp.expired'], payload: 'full', status: 'paused' }
  await admin('POST', `/apps/${APP}/endpoints`, { url: `${backend}/crm`, ...crm })
  await admin('PUT', '/prices', {
    prices: [
      { channel: 'sms', country: '*', micros: 45_000 },
      { channel: 'sms', country: 'US', micros: 7_900 },
      { channel: 'whatsapp', country: '*', micros: 30_000 },
    ],
  })
  await admin('POST', `/companies/${COMPANY}/credit`, { micros: 250_000_000, note: 'Invoice 2026-118' })
  await admin('PATCH', `/apps/${APP}`, {
    settings: {
      routing: { countries: { BR: ['whatsapp', 'sms'], IN: ['whatsapp', 'sms', 'telegram'] } },
      blocked_countries: ['KP'],
      publishable_send: true,
      allowed_origins: ['https://shop.acme.example'],
    },
  })
  const { store, broker } = countersign.engines
  for (const [name, role] of [
    ['Ada Lovelace', 'owner'],
    ['Grace Hopper', 'developer'],
    ['Katherine Johnson', 'viewer'],
  ]) {
    const email = `${name?.split(' ')[0]?.toLowerCase()}@acme.example`
    await admin('POST', `/companies/${COMPANY}/users`, { email, name, role })
  }
  const hours = statistics(Date.now())
  await store.docs('stats_hours').insert(hours)
  await storeFacts(store, APP, Date.now(), routeFacts())
  await store.docs('refusals').insert(refusals(hours, Date.now()))
  await broker.publish('webhook.deliver', { id: 'sample', body: { event_id: 'evt_gone' } })

  const failedOtp = await makeTraffic(countersign, token)
  return {
    company: COMPANY,
    app: APP,
    failedOtp,
    close: async () => void (await Promise.all(receivers.map(receiver => receiver.close()))),
  }
}

/** For `BOOTSTRAP_FILE`. */
export const SAMPLE_BOOTSTRAP = {
  companies: [
    {
      id: COMPANY,
      name: 'Acme',
      apps: [
        {
          id: APP,
          name: 'Acme Shop',
          keys: [
            { id: 'key_acmelive', kind: 'server', mode: 'live', key: LIVE_KEY, name: 'Checkout backend' },
            { id: 'key_acmetest', kind: 'server', mode: 'test', key: TEST_KEY, name: 'Staging' },
            { id: 'key_acmedevice', kind: 'publishable', mode: 'live', key: PUBLISHABLE_KEY, name: 'iOS app' },
          ],
        },
        { id: 'app_acmecouriers', name: 'Acme Couriers', keys: [] },
      ],
    },
  ],
}

const httpProvider = (url: string, position: number): object => ({
  type: 'http',
  channel: 'sms',
  position,
  cost_micros: { US: 6_500 + 900 * position, '*': 38_000 + 4_000 * position },
  config: { url, secret: 'whsec_c2VjcmV0IG9mIHRoZSBnYXRld2F5' },
})

async function makeTraffic({ url }: Countersign, token: string): Promise<string> {
  const [live, test] = [createCaller(url, LIVE_KEY), createCaller(url, TEST_KEY)]
  for (const recipient of ['+14155550101', '+447911123456', '+4915123456789', 'ada@acme.example']) {
    const { body } = await test.send(recipient, { client_ip: '203.0.113.7' })
    const messages = await eventually(async () => {
      const inbox = await ask(`${url}/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`, { token })
      if (inbox.body.length === 0) throw new Error('no message yet')
      return inbox.body
    })
    await test.verify(body.otp_id, messages[0].code)
  }
  await live.send('+12025550143', { client_ip: '203.0.113.8' })
  await live.send('+850191234567', { client_ip: '203.0.113.9' })
  await live.send('+1415555', { client_ip: '203.0.113.9' })
  const { body } = await live.send(DEAD_NUMBER, { client_ip: '203.0.113.8' })
  await eventually(async () => {
    const { body: status } = await live.status(body.otp_id)
    if (status.deliveries[0]?.status !== 'failed') throw new Error('the delivery has not failed yet')
  })
  return body.otp_id
}

/** One for every refused send that the statistics of the last days count. */
function refusals(hours: readonly StatsDoc[], now: number): RefusalDoc[] {
  const dice = createDice(11)
  const kept = hours.filter(({ start }) => start > now - REFUSAL_RETENTION_MS)
  return kept.flatMap(({ start, refused }) =>
    Object.entries(refused).flatMap(([country, count]) =>
      Array.from({ length: count }, () => {
        const at = start + dice(HOUR_MS)
        return {
          _id: newId('rfs', at),
          company_id: COMPANY,
          app_id: APP,
          mode: 'live' as const,
          key_id: 'key_acmelive',
          at,
          request_id: null,
          ...(REFUSALS[dice(REFUSALS.length)] ?? REFUSALS[0]),
          country,
          masked: country === 'BR' ? '+55****21' : '+1****43',
          purge_at: new Date(at + REFUSAL_RETENTION_MS),
        }
      }),
    ),
  )
}

/** One of the gateways is better nearly everywhere, and silent in Brazil. */
const routeFacts = (): GivenFact[] =>
  COUNTRIES.flatMap((country, at): GivenFact[] => {
    const messages = Math.round(9_000 / (at + 1))
    const isSilent = country === 'BR'
    return [
      { provider: 'main-gateway', country, messages, approved: Math.round(messages * (0.71 - at * 0.02)) },
      {
        provider: 'backup-gateway',
        country,
        messages: Math.round(messages / 6),
        approved: Math.round((messages / 6) * (isSilent ? 0.02 : 0.84 - at * 0.02)),
        seconds_p50: 11,
        ...(isSilent ? { silentSince: Date.now() - HOUR_MS } : {}),
      },
    ]
  })

/** A month of hours with days and nights, weekends, and a bad afternoon. */
function statistics(now: number): StatsDoc[] {
  const dice = createDice(7)
  const last = now - (now % HOUR_MS) - HOUR_MS
  return Array.from({ length: 30 * 24 }, (_, back) => {
    const start = last - back * HOUR_MS
    const hour = new Date(start).getUTCHours()
    const weekend = [0, 6].includes(new Date(start).getUTCDay()) ? 0.6 : 1
    const busy = Math.round(weekend * (40 + 55 * Math.max(0, Math.sin(((hour - 5) / 24) * 2 * Math.PI))))
    const bad = back > 48 && back < 54 ? 0.45 : 1
    const cell = (value: string, share: number, converts: number): string => {
      const started = Math.max(1, Math.round(busy * share + dice(6)))
      const sent = started + dice(3)
      const delivered = Math.round(sent * (0.94 + dice(5) / 100) * bad)
      const approved = Math.min(started, Math.round(started * (converts + dice(6) / 100) * bad))
      const [failed, expired] = [Math.min(dice(3), started - approved), 0]
      const quick = Math.floor(approved / 2)
      return `${value}=${started} ${sent} ${delivered} ${approved} ${failed} ${expired} ${9 + dice(6)}:${quick} ${18 + dice(9)}:${approved - quick}`
    }
    return {
      _id: hourId(APP, 'live', start),
      app_id: APP,
      mode: 'live',
      start,
      by: {
        channel: [cell('sms', 0.7, 0.8), cell('whatsapp', 0.2, 0.88), cell('email', 0.1, 0.7)].join(';'),
        country: COUNTRIES.map((country, at) => cell(country, 0.4 / (at + 1), 0.85 - at * 0.03)).join(';'),
        provider: [cell('main-gateway', 0.8, 0.82), cell('backup-gateway', 0.2, 0.75)].join(';'),
      },
      refused: { US: dice(3), BR: dice(4) },
      purge_at: new Date(now + 30 * DAY_MS),
      rev: 0,
    }
  })
}
