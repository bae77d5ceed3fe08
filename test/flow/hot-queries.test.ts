// Everything that sends, verifies, receipts, events and sweeps ask of MongoDB: an index serves it, and it names the shard key of its
// collection, or the index that serves it says who asks all shards, and why. There is no cluster here: the plans are those of one server,
// and which shards a query is sent to follows from its filter. The store is not empty, so that a plan which reads too much shows.
import { expect } from 'chai'
import { type Db, MongoClient } from 'mongodb'
import { ROLES } from '../../infra/config/config.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { partitionOf } from '../../infra/partitions.ts'
import type { Collections, Scatter } from '../../infra/store/store.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { type LedgerDoc, ledgerId } from '../../services/domain/money/documents.ts'
import { twilioSid } from '../../services/domain/tenancy/twilio-sids.ts'
import type { AttemptDoc, OtpDoc } from '../../services/domain/verifications/documents.ts'
import type { EventDoc } from '../../services/domain/webhooks/documents.ts'
import { newEvent } from '../../services/domain/webhooks/new-event.ts'
import { ask, type Caller } from '../support/api-caller.ts'
import { sendSolved } from '../support/challenges.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type Flow, freshNumber, startFlow, wrongCode } from '../support/flow.ts'
import { codeIn, LIVE_ENV, PUBLIC_URL } from '../support/live-flow.ts'
import { issued } from '../support/otp.ts'
import { kindOf, type QueryRecorder, type RecordedQuery, recordQueries, wasteOf } from '../support/query-recorder.ts'
import { documentOf } from '../support/queued-otps.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { isOneDocument, namesShardKey, scatterOf } from '../support/sharding.ts'
import { freshSite, type Site } from '../support/site.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'
import { startTelegram, type Telegram } from '../support/vendors/telegram.ts'

const [COMPANY, APP, KEY] = ['cmp_hot', 'app_hot', 'sk_live_0123456789hot']
/** Documents of each large collection that are there before: half of them the app's own, half those of other apps. */
const STORED = 2_000
/** Keys or documents that a query may read beside those that it finds. */
const MAX_WASTE = 20
const HOUR_MS = 3_600_000

/** Who may ask all shards. */
const ASKERS: Record<'every send' | 'some calls' | 'sweeps', readonly Scatter['asker'][]> = {
  'every send': [],
  'some calls': ['calls'],
  sweeps: ['sweeper', 'people', 'calls'],
}

onRealEngines('what is asked of MongoDB', { AMQP_URL, MONGODB_URL }, () => {
  let site: Site
  let flow: Flow
  let sweeper: Countersign | undefined
  let client: MongoClient
  let db: Db
  let recorder: QueryRecorder
  let gateway: HttpGateway
  let telegram: Telegram
  let backend: Receiver
  let endpointAnswers = 200
  let live: Caller

  before(async () => {
    const env = { ...LIVE_ENV, WEBHOOK_BACKOFF: '200', LOG_LEVEL: 'info' }
    site = await freshSite('real', env, { dropsDatabase: true })
    flow = await startFlow({ engines: 'real', site, env, roles: ROLES.filter(role => role !== 'sweeper') })
    const options = {
      route: (url: string) => url.replace(PUBLIC_URL, flow.countersign.url),
      now: flow.clock.now,
      callbackUrl: () => `${PUBLIC_URL}/callbacks/${APP}/gateway`,
    }
    gateway = await startHttpGateway(options)
    telegram = await startTelegram(options)
    backend = await startReceiver((_, response) => void response.writeHead(endpointAnswers).end())
    await createApp()
    live = flow.caller(KEY)
    client = new MongoClient(site.env.MONGODB_URL ?? '')
    db = client.db()
    await fill(flow.countersign.engines.store, flow.clock.now())
    recorder = await recordQueries(db)
  })
  after(async () => {
    await sweeper?.stop()
    await client?.close()
    await flow?.stop()
    await Promise.all([gateway?.close(), telegram?.close(), backend?.close()])
  })

  /** A paid live app with two channels and an endpoint. */
  async function createApp(): Promise<void> {
    const { data, code } = flow.countersign.secrets
    const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
    const app = {
      id: APP,
      keys: [{ id: 'key_hot', key: KEY }],
      settings: { routing: { default: ['sms', 'telegram'] }, resend_cooldown_seconds: [0] },
      providers: [
        { name: 'gateway', channel: 'sms', type: 'http', config: { url: gateway.url, secret: gateway.secret } },
        {
          name: 'telegram',
          channel: 'telegram',
          type: 'telegram_gateway',
          config: { token: telegram.token, base_url: telegram.url },
        },
      ],
      webhook: { url: `http://127.0.0.1:${backend.port}/` },
    }
    const file = {
      prices: [{ channel: 'sms', country: '*', micros: 1_000 }],
      companies: [{ id: COMPANY, balance: 1_000_000_000, apps: [app] }],
    }
    await applyBootstrap(readBootstrap(JSON.stringify(file)), {
      store: flow.countersign.engines.store,
      keyring,
      clock: flow.clock,
    })
  }

  const waitForEvents = (count: number): Promise<unknown> =>
    eventually(() => expect(backend.received.length, 'events').to.be.at.least(count))
  const waitForMessages = (vendor: HttpGateway | Telegram, count: number): Promise<unknown> =>
    eventually(() => expect(vendor.messages.length, 'messages').to.be.at.least(count))
  const lastCode = (): string => codeIn(gateway.messages.at(-1)?.requestBody)

  /** Sends, and waits until the gateway has the message. */
  async function send(options = {}): Promise<{ otp_id: string; to: string; code: string }> {
    const [to, before] = [freshNumber(), gateway.messages.length]
    const { body, text } = await live.send(to, options)
    expect(body.status, text).to.equal('pending')
    await waitForMessages(gateway, before + 1)
    return { otp_id: body.otp_id, to, code: lastCode() }
  }

  /** Every query of the phase that has no index, reads too much, or asks all shards and is not declared to. */
  async function problemsOf(queries: readonly RecordedQuery[], phase: keyof typeof ASKERS): Promise<string[]> {
    const problems: string[] = []
    for (const query of queries) {
      const spec = (COLLECTIONS as Collections)[query.collection]
      if (spec === undefined) continue
      const { stages, indexes } = await recorder.explain(query)
      const say = (problem: string) => problems.push(`${kindOf(query)}: ${problem}`)
      if (stages.includes('COLLSCAN')) say('reads the whole collection')
      if (stages.includes('SORT')) say('sorts')
      // The plan for a collection without documents is to find nothing.
      if (indexes.length === 0 && !stages.includes('EOF')) say('uses no index')
      if (wasteOf(query) > MAX_WASTE) say(`reads ${query.keysRead} keys and finds ${query.found}`)
      if (spec.sharding === undefined) continue
      if (query.changesOne && !isOneDocument(spec, query.filter, query.operation))
        say('changes one document, and a cluster could not tell where it is')
      if (namesShardKey(spec, query.filter)) continue
      for (const index of indexes) {
        const scatter = scatterOf(spec, index)
        if (scatter === undefined) say(`asks all shards by ${index}, which says of nobody that they do`)
        else if (!ASKERS[phase].includes(scatter.asker))
          say(`asks all shards by ${index}, which says: ${scatter.asker}`)
      }
    }
    return problems
  }

  /** What was recorded since the test began. */
  let recorded: RecordedQuery[] = []
  beforeEach(async () => {
    await recorder.take()
    recorded = []
  })

  /** Work in the background ends after the last answer. */
  const waitUntilRecorded = (expected: Partial<Record<RecordedQuery['operation'], string[]>>): Promise<unknown> =>
    eventually(async () => {
      recorded.push(...(await recorder.take()))
      const made = recorded.map(({ operation, collection }) => `${operation} ${collection}`)
      const wanted = Object.entries(expected).flatMap(([operation, names]) => names.map(name => `${operation} ${name}`))
      expect(made).to.include.members(wanted)
    })

  it('by a send with its delivery, receipt and event, and by a verify with its own, names the shard key', async () => {
    gateway.always({ receipts: ['delivered'] })
    const { otp_id, to, code } = await send({
      client_ip: '93.184.216.34',
      idempotency: 'hot',
      metadata: { order: '1' },
    })
    await live.send(to, { idempotency: 'hot' })
    await waitForEvents(1)
    await live.verify(otp_id, wrongCode(code))
    expect((await live.verify(otp_id, code)).body.matched).to.equal(true)
    await live.status(otp_id)
    await waitForEvents(2)
    await waitUntilRecorded({
      find: ['otps', 'keys', 'apps'],
      update: ['otps', 'attempts', 'events'],
      modify: ['companies'],
    })
    expect(await problemsOf(recorded, 'every send')).to.deep.equal([])
  })

  it('by what happens to some of them is declared where it asks all shards', async () => {
    // A provider that fails once, a message that fails, and its refund.
    gateway.next({ fault: { kind: 'broken' } }, { receipts: ['failed'] })
    await send()
    await waitForEvents(3)

    // Another channel, whose receipt brings the vendor's id alone.
    const { otp_id } = await send()
    await waitForEvents(4)
    expect((await live.resend(otp_id, 'telegram')).status).to.equal(200)
    await waitForMessages(telegram, 1)
    const [message] = telegram.messages
    if (message) expect(await telegram.report({ ...message, payload: undefined }, 'delivered')).to.equal(200)
    await waitForEvents(5)
    await live.cancel(otp_id)

    // An endpoint that fails once.
    endpointAnswers = 500
    await send()
    await waitForEvents(6)
    endpointAnswers = 200
    await waitForEvents(7)

    expect((await live.send('+1')).status).to.equal(422)
    const body = JSON.stringify({ recipient: freshNumber(), code: '482913' })
    const given = await ask(`${flow.countersign.url}/api/v1/messages`, { method: 'POST', token: KEY, body })
    expect(given.status, given.text).to.equal(200)
    await waitForEvents(8)
    await waitUntilRecorded({ find: ['attempts', 'ledger'] })
    expect(await problemsOf(recorded, 'some calls')).to.deep.equal([])
  })

  it('by devices, links of WhatsApp and callers of Twilio is, too', async () => {
    const settings = {
      publishable_challenge: 'always',
      channels: { whatsapp: { mode: 'link_inbound', business_number: '+15550001111' } },
      routing: { default: ['sms', 'whatsapp'] },
      resend_cooldown_seconds: [0],
    }
    const { company, app, server, device } = await flow.createTenant(settings)
    await recorder.take()
    const [to, linked] = [freshNumber(), freshNumber()]
    const { body: sent } = await sendSolved(device, to)
    const link = (await server.send(linked)).body
    const moved = (await server.resend(link.otp_id, 'whatsapp')).body
    const text = new URL(moved.action_url).searchParams.get('text')
    const inbound = { app_id: app, from: linked, text }
    const sid = twilioSid('cmp', company)
    const path = `${flow.countersign.url}/compat/twilio/v2/Services/${twilioSid('app', app)}/Verifications`
    const headers = { authorization: `Basic ${Buffer.from(`${sid}:${server.key}`).toString('base64')}` }
    const created = await fetch(path, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ To: freshNumber(), Channel: 'sms' }),
    })
    expect(created.status).to.equal(201)
    const ofCalls = await recorder.take()
    expect((await flow.admin('POST', '/sandbox/inbound', inbound)).status).to.equal(200)
    await eventually(async () => expect((await server.status(link.otp_id)).body.status).to.equal('approved'))
    const ofMessages = await recorder.take()
    const code = await flow.waitForCode(to)
    await recorder.take()
    const { body } = await device.verify(sent.otp_id, code)
    expect((await server.exchange(body.verification_token)).status).to.equal(200)
    const queries = [...ofCalls, ...ofMessages, ...(await recorder.take())]
    expect(queries.map(kindOf).filter(kind => kind.startsWith('otps: find {reference'))).to.not.deep.equal([])
    expect(await problemsOf(queries, 'some calls')).to.deep.equal([])
  })

  it('would be found here if it did not', async () => {
    const intruder = new MongoClient(site.env.MONGODB_URL ?? '', { appName: 'countersign' })
    const otps = intruder.db().collection<{ _id: string }>('otps')
    await recorder.take()
    await otps.find({ value: 'pending' }).toArray()
    await otps.find({ app_id: APP }).sort({ created_at: -1 }).limit(1).toArray()
    await otps.findOneAndUpdate({ recipient: 'nobody' }, { $set: { recipient: 'nobody' } })
    await intruder
      .db()
      .collection('counters')
      .find({ _id: { $gt: 'x' } as never })
      .limit(1)
      .toArray()
    await intruder.close()
    const problems = await problemsOf(await recorder.take(), 'some calls')
    expect(problems.map(problem => problem.replace(/reads \d+ keys and finds \d+/, 'reads too much'))).to.have.members([
      'otps: find {value: ?}: reads the whole collection',
      'otps: find {value: ?}: uses no index',
      'otps: find {value: ?}: reads too much',
      'otps: find {app_id: ?} by {"created_at":-1}: sorts',
      'otps: find {app_id: ?} by {"created_at":-1}: reads too much',
      'otps: find {app_id: ?} by {"created_at":-1}: asks all shards by app_id_1__id_-1, which says: people',
      'otps: modify one {recipient: ?}: changes one document, and a cluster could not tell where it is',
      'counters: find {_id: {$gt: ?}}: asks all shards by _id_, which says: sweeper',
    ])
  })

  it('by the sweeper is served by an index, and declared where it asks all shards', async () => {
    gateway.always({})
    await send()
    await recorder.take()
    recorded = []
    sweeper = await startCountersign({ engines: 'real', site, clock: flow.clock, env: LIVE_ENV, roles: ['sweeper'] })
    // Codes expire, and hours become final and are counted again.
    await flow.clock.advance(3 * HOUR_MS)
    await eventually(async () => {
      recorded.push(...(await recorder.take()))
      expect(recorded.map(kindOf)).to.include.members([
        'otps: find {partition: {$in: […]},due_at: {$gt: ?,$lte: ?}} by {"partition":1,"due_at":1,"_id":1}',
        'otps: find {_id: {$gt: ?,$lt: ?}} by {"_id":1}',
        'otps: find {app_id: ?,_id: {$gt: ?,$lt: ?}} by {"_id":1}',
        'stats_hours: find {start: ?,_id: {$gt: ?}} by {"_id":1}',
      ])
    })
    expect(await problemsOf(recorded, 'sweeps')).to.deep.equal([])
  })
})

/** Documents of the past month, as the flows leave them. */
async function fill(store: CountersignStore, now: number): Promise<void> {
  const owners = Array.from({ length: STORED }, (_, nth) => ({
    at: now - Math.floor((nth + 1) * (720 / STORED) * HOUR_MS),
    app_id: nth % 2 === 0 ? APP : `app_other${nth % 50}`,
    nth,
  }))
  await store.docs('otps').insert(owners.map(oldOtp))
  await store.docs('attempts').insert(owners.map(oldAttempt))
  await store.docs('events').insert(owners.map(oldEvent))
  await store.docs('ledger').insert(owners.map(oldEntry))
}

interface Owner {
  at: number
  app_id: string
  nth: number
}

const monthLater = (at: number): Date => new Date(at + 720 * HOUR_MS)

function oldOtp({ at, app_id, nth }: Owner): OtpDoc {
  const _id = newId('otp', at)
  const saved = issued({ at, otp_id: _id, company_id: COMPANY, app_id, mode: 'live', link: null })
  const doc = documentOf({ ...saved, value: 'approved' }, at)
  return { ...doc, recipient: `index of ${nth}`, partition: partitionOf(_id), events_at: at + 60_000 }
}

function oldAttempt({ at, app_id, nth }: Owner): AttemptDoc {
  const delivery_id = newId('dlv', at)
  return {
    _id: `${delivery_id}:gateway`,
    otp_id: newId('otp', at),
    app_id,
    delivery_id,
    channel: 'sms',
    provider: 'gateway',
    round: 1,
    at,
    result: 'accepted',
    reference: `reference ${nth}`,
    purge_at: monthLater(at),
    rev: 1,
  }
}

function oldEvent({ at, app_id }: Owner): EventDoc {
  const fields = {
    _id: newId('evt', at),
    app_id,
    company_id: COMPANY,
    mode: 'live' as const,
    type: 'delivery.delivered' as const,
    payload: { otp_id: newId('otp', at), delivery_id: newId('dlv', at), status: 'delivered' },
    created_at: at,
    purge_at: monthLater(at),
  }
  return newEvent(fields, 'delivered')
}

function oldEntry({ at, nth }: Owner): LedgerDoc {
  const company_id = nth % 2 === 0 ? COMPANY : 'cmp_other'
  const seq = 1_000_000 + nth
  const delivery_id = newId('dlv', at)
  return {
    _id: ledgerId(company_id, seq),
    company_id,
    entry: `hold:${delivery_id}`,
    kind: 'hold',
    micros: -1_000,
    otp_id: newId('otp', at),
    delivery_id,
    note: null,
    by: null,
    message: null,
    seq,
    at,
    balance_after: 0,
    rev: 1,
  }
}
