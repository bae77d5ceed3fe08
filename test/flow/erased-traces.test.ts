// A person who leaves a trace wherever one can be left, and an adversary who has the whole store afterwards: once erased, or once their time
// is over, nothing is found by their number, its masked form, its indexes, anything that was sealed for them, or what their own
// idempotency key was made from. A collection that is added has to say here what it keeps.
import { expect } from 'chai'
import { createKeyring, type Keyring } from '../../infra/crypto/keyring.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { tagOf } from '../../services/domain/fraud/number-blocks.ts'
import { recipientIndexes, sandboxIndex } from '../../services/domain/verifications/lookup-indexes.ts'
import { ask } from '../support/api-caller.ts'
import { testClock } from '../support/clock.ts'
import { startCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS, type Flow, startFlow, wrongCode } from '../support/flow.ts'
import { type CollectionName, collectionNames, rawDocuments } from '../support/raw-documents.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { createRunningClock } from '../support/running-clock.ts'
import { type EngineSet, onEachEngineSet } from '../support/site.ts'

/** What tells of a person, and of it afterwards: nothing; ids that lead nowhere; nothing at any time. */
const PERSONAL_DATA: Record<CollectionName, 'erased' | 'ids' | 'never'> = {
  otps: 'erased',
  claims: 'erased',
  counters: 'erased',
  fraud_blocks: 'erased',
  fraud_decisions: 'erased',
  attempts: 'erased',
  sandbox_messages: 'erased',
  events: 'ids',
  ledger: 'ids',
  companies: 'ids',
  apps: 'never',
  keys: 'never',
  webhooks: 'never',
  providers: 'never',
  prices: 'never',
  audit: 'never',
  ip_lists: 'never',
  ip_chunks: 'never',
  fraud_tallies: 'never',
  leases: 'never',
  canaries: 'never',
  rotations: 'never',
}
const NUMBER = '+447400998877'
const otherNumber = (nth: number): string => `+44740099${String(nth * 101).padStart(4, '0')}`
const PLENTY = [{ max: 100_000, seconds: 60 }]
const SETTINGS = {
  limits: { app_without_client_ip: PLENTY, recipient_messages: PLENTY },
  resend_cooldown_seconds: [0],
  channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } },
  routing: { default: ['sms', 'whatsapp'] },
}
const ENV = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }
const MINUTE_MS = 60_000
const TWO_DAYS_MS = 2 * 86_400_000

interface Person {
  app: string
  otp_ids: string[]
  /** What must not be found. */
  traces: string[]
}

/** All documents, but for those whose own day has come: when its engine takes them is the engine's business. */
async function collectionsHolding(
  store: CountersignStore,
  texts: readonly string[],
  now: number,
): Promise<Set<CollectionName>> {
  const where = new Set<CollectionName>()
  for (const name of collectionNames)
    for (const text of await rawDocuments(store, name)) {
      const { purge_at } = JSON.parse(text) as { purge_at?: string }
      const isOver = purge_at !== undefined && Date.parse(purge_at) <= now
      if (!isOver && texts.some(one => text.includes(one))) where.add(name)
    }
  return where
}

async function leaveTraces(flow: Flow, endpoint: Receiver): Promise<Person> {
  const { app, company, server } = await flow.createTenant(SETTINGS)
  await flow.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: 100 }] })
  await flow.admin('POST', `/companies/${company}/credit`, { micros: 10_000, note: 'a transfer' })
  await flow.admin('PUT', `/apps/${app}/providers/box`, { channel: 'sms', type: 'sandbox', config: {} })
  const live = await flow.createKey(app, 'server', 'live')
  await flow.advance(CACHE_TTL_MS)
  // Neighbours whom nobody verifies: enough for the guard to have something to say.
  for (let nth = 0; nth < 21; nth += 1) expect((await server.send(otherNumber(nth))).status).to.equal(200)
  await flow.eventually(async () => expect(await flow.events(app)).to.have.length(21))
  // From now on: it speaks of nobody else.
  await flow.admin('PUT', `/apps/${app}/webhook`, { url: `http://127.0.0.1:${endpoint.port}/hooks` })
  await flow.advance(3 * MINUTE_MS)

  const first = await server.send(NUMBER, { client_ip: '81.2.69.142', idempotency: `sign up ${NUMBER}` })
  const code = await flow.waitForCode(NUMBER)
  await server.verify(first.body.otp_id, wrongCode(code))
  expect((await server.verify(first.body.otp_id, code)).body.matched).to.equal(true)
  const chat = (await server.send(NUMBER)).body.otp_id
  const link = (await server.resend(chat, 'whatsapp')).body.action_url
  const text = new URL(link).searchParams.get('text') ?? ''
  await flow.admin('POST', '/sandbox/inbound', { app_id: app, from: NUMBER, text })
  await flow.waitForCode(NUMBER, 3)
  const paid = (await live.send(NUMBER, { idempotency: `again ${NUMBER}` })).body.otp_id
  await flow.waitForCode(NUMBER, 4)
  const otp_ids = [first.body.otp_id, chat, paid]

  const { store } = flow.countersign.engines
  const { data, code: codeSecrets } = flow.countersign.secrets
  const keyring = createKeyring({ dataKeys: data, codeSecrets })
  const traces = [
    NUMBER,
    NUMBER.slice(1),
    NUMBER.slice(3),
    first.body.masked_recipient,
    ...indexesOf(keyring, app),
    ...(await sealedTextsOf(store, otp_ids)),
  ]
  const wanted = collectionNames.filter(name => PERSONAL_DATA[name] === 'erased')
  await flow.eventually(async () => {
    const where = await collectionsHolding(store, [...traces, ...otp_ids], flow.clock.now())
    expect([...where]).to.include.members([...wanted, 'events', 'ledger'])
    expect([...where].filter(name => PERSONAL_DATA[name] === 'never')).to.deep.equal([])
    const events = (await flow.events(app)).filter(({ payload }) => otp_ids.includes(payload.otp_id ?? ''))
    for (const { attempts } of events) expect(attempts[0]?.response, 'what the endpoint said').to.include(NUMBER)
    expect(events).to.have.length.at.least(4)
  })
  return { app, otp_ids, traces: [...new Set(traces)] }
}

function indexesOf(keyring: Keyring, app_id: string): string[] {
  const own = (['live', 'test'] as const).flatMap(mode => recipientIndexes(keyring, { app_id, mode }, NUMBER))
  return [...own, ...own.map(tagOf), sandboxIndex(keyring, NUMBER)]
}

/** Whatever was sealed for them, the references of their links, and the hashes of their idempotency keys. */
async function sealedTextsOf(store: CountersignStore, otp_ids: readonly string[]): Promise<string[]> {
  const docs = [...(await store.docs('otps').get([...otp_ids])).values()]
  const sealed = JSON.stringify(docs).match(/v1\.[\w-]+\.[\w-]+/g) ?? []
  const claims = (await store.docs('claims').find({}, { sort: { _id: 1 }, limit: 1_000 })).filter(({ otp_id }) =>
    otp_ids.includes(otp_id),
  )
  expect(claims, 'idempotency keys').to.have.length(2)
  expect(sealed.length, 'sealed texts').to.be.at.least(8)
  return [...sealed, ...docs.flatMap(({ reference }) => reference ?? []), ...claims.map(({ _id }) => _id)]
}

async function expectNoTraces(store: CountersignStore, { traces, otp_ids }: Person, now: number): Promise<void> {
  for (const trace of traces) expect([...(await collectionsHolding(store, [trace], now))], trace).to.deep.equal([])
  for (const name of await collectionsHolding(store, otp_ids, now)) expect(PERSONAL_DATA[name], name).to.equal('ids')
}

onEachEngineSet('a person who is to be forgotten', (engines: EngineSet) => {
  let flow: Flow
  let endpoint: Receiver
  let person: Person

  beforeEach(async function () {
    this.timeout(180_000)
    endpoint = await startReceiver((_, response) => void response.end(`thanks to ${NUMBER}`))
    flow = await startFlow({ engines, env: ENV })
    person = await leaveTraces(flow, endpoint)
  })
  afterEach(async function () {
    this.timeout(60_000)
    await flow.stop()
    await endpoint.close()
  })

  it('is, as soon as an operator erases them; and what their backend says of them later is not kept', async function () {
    this.timeout(120_000)
    const { app, otp_ids } = person
    const { status, body } = await flow.admin('POST', `/apps/${app}/erase`, { recipient: NUMBER })
    expect(status).to.equal(200)
    expect(body).to.include({ verifications: 3, idempotency_keys: 2, blocks: 1, decisions: 2 })
    expect(body.events).to.be.at.least(1)
    const { store } = flow.countersign.engines
    await expectNoTraces(store, person, flow.clock.now())

    const [event] = (await flow.admin('GET', `/apps/${app}/events?otp_id=${otp_ids[0]}`)).body.items
    expect((await flow.admin('POST', `/events/${event.id}/replay`, {})).status).to.be.oneOf([200, 202])
    await flow.eventually(async () => {
      const [again] = (await flow.admin('GET', `/apps/${app}/events?otp_id=${otp_ids[0]}`)).body.items
      expect(again).to.include({ round: 2, status: 'delivered' })
      expect(again.attempts.at(-1)).to.include({ status: 200, response: null })
    })
    await expectNoTraces(store, person, flow.clock.now())
  })

  it('is, once the app keeps nothing for as long', async function () {
    this.timeout(180_000)
    const at = flow.clock.now()
    await flow.advanceUntil(flow.countersign.stop())
    // A fake clock would have to go through each second of two days.
    const clock = engines === 'embedded' ? testClock(at + TWO_DAYS_MS) : createRunningClock()
    if (engines === 'real') await clock.advance(Math.max(0, at - clock.now()) + TWO_DAYS_MS)
    const env = { CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200', ...ENV }
    const later = await startCountersign({ engines, site: flow.countersign.site, clock, env })
    try {
      const token = later.secrets.adminTokens[0]?.token ?? ''
      const body = JSON.stringify({ settings: { retention_days: 1 } })
      const patched = await ask(`${later.url}/admin/v1/apps/${person.app}`, { method: 'PATCH', token, body })
      expect(patched.status).to.equal(200)
      await eventually(async () => {
        await clock.advance(2_000)
        await expectNoTraces(later.engines.store, person, clock.now())
      }, 60_000)
    } finally {
      await later.stop()
    }
  })
})
