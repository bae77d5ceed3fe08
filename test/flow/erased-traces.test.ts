// A recipient leaves a trace in every collection that can hold one. After an erasure, or after the retention time, a search of the whole
// store finds neither the number, nor its masked form, its indexes, its sealed texts and the hashes of its idempotency keys. The journal of
// erasures alone keeps the indexes under which the number is looked up.
// A new collection must be added to PERSONAL_DATA (services/domain/personal-data.ts).
import { expect } from 'chai'
import { createKeyring, type Keyring } from '../../infra/crypto/keyring.ts'
import { LIST_OF } from '../../services/dashboard/privacy/person-export.ts'
import type { ErasureAnswer, PersonExportAnswer } from '../../services/dashboard/privacy/schemas.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { blockTags } from '../../services/domain/fraud/numbers.ts'
import { type CollectionName, PERSONAL_DATA } from '../../services/domain/personal-data.ts'
import { otpIdOfSid, twilioSid } from '../../services/domain/tenancy/twilio-sids.ts'
import { recipientIndexes, sandboxIndex } from '../../services/domain/verifications/lookup-indexes.ts'
import { testClock } from '../support/clock.ts'
import { startCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS, type Flow, startFlow, wrongCode } from '../support/flow.ts'
import { collectionNames, dataFiles, rawDocuments } from '../support/raw-documents.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { createRunningClock } from '../support/running-clock.ts'
import { type EngineSet, onEachEngineSet } from '../support/site.ts'

const NUMBER = '+447400998877'
const otherNumber = (nth: number): string => `+44740099${String(nth * 101).padStart(4, '0')}`
const PLENTY = [{ max: 100_000, seconds: 60 }]
const SETTINGS = {
  limits: { app_without_client_ip: PLENTY, recipient_messages: PLENTY },
  resend_cooldown_seconds: [0],
  channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } },
  routing: { default: ['sms', 'whatsapp'] },
  publishable_send: true,
  fraud_guard: { mode: 'record' },
}
const ENV = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }
/** One approval and six deliveries: the first text message, that of the chat, that of the send which joined it, the answer in the chat, the
 *  paid one, that of the device. */
const EVENTS_OF_PERSON = 7
const MINUTE_MS = 60_000
const TWO_DAYS_MS = 2 * 86_400_000

interface Person {
  app: string
  otp_ids: string[]
  /** The indexes under which the recipient is looked up. */
  indexes: string[]
  /** Texts that must not be found after an erasure. */
  traces: string[]
  /** Of the first verification. */
  code: string
}

/** What the export shows of each collection that an erasure changes. */
const SHOWN: Record<keyof typeof LIST_OF, (all: PersonExportAnswer) => readonly unknown[]> = {
  otps: ({ verifications }) => verifications,
  attempts: ({ verifications }) =>
    verifications.flatMap(({ timeline }) => timeline.filter(({ happened }) => happened.startsWith('provider'))),
  events: ({ verifications }) =>
    verifications.flatMap(({ events }) => events.filter(({ attempts }) => attempts.some(({ response }) => response))),
  claims: ({ verifications }) => verifications.flatMap(({ idempotency_keys }) => idempotency_keys),
  metadata_indexes: ({ verifications }) => verifications.filter(({ metadata }) => metadata !== null),
  joined_ids: ({ verifications }) => verifications.flatMap(({ joined }) => joined),
  sandbox_messages: ({ sandbox_messages }) => sandbox_messages,
  refusals: ({ refusals }) => refusals,
  counters: ({ counters }) => counters,
  recipient_rules: ({ recipient_rules }) => recipient_rules,
  fraud_decisions: ({ fraud_decisions }) => fraud_decisions,
  fraud_numbers: ({ fraud_histories }) => fraud_histories,
  fraud_blocks: ({ fraud_blocks }) => fraud_blocks,
  erasures: ({ erasures }) => erasures,
}

/** As an erasure counts them. */
function countsOf(exported: PersonExportAnswer): ErasureAnswer {
  const count = (name: keyof typeof SHOWN): number => SHOWN[name](exported).length
  return {
    verifications: count('otps'),
    ended: exported.verifications.filter(({ status }) => status === 'pending').length,
    attempts: count('attempts'),
    messages: count('sandbox_messages'),
    events: count('events'),
    counters: count('counters') + count('fraud_numbers'),
    refusals: count('refusals'),
    decisions: count('fraud_decisions'),
    idempotency_keys: count('claims'),
    blocks: count('fraud_blocks'),
    rules: exported.recipient_rules.filter(({ recipient }) => recipient !== null).length,
  }
}

const isHidden = (trace: string): boolean => trace.startsWith('v1.')

/** The collections with such a text. Documents past their `purge_at` do not count: the engine removes them when it chooses. */
async function collectionsHolding(
  store: CountersignStore,
  texts: readonly string[],
  now: number,
): Promise<Set<CollectionName>> {
  const found = new Set<CollectionName>()
  for (const name of collectionNames)
    for (const text of await rawDocuments(store, name)) {
      const { purge_at } = JSON.parse(text) as { purge_at?: string }
      const isPastPurge = purge_at !== undefined && Date.parse(purge_at) <= now
      if (!isPastPurge && texts.some(one => text.includes(one))) found.add(name)
    }
  return found
}

/** A second send, which joins the pending verification. */
async function createByTwilio(flow: Flow, { app, company, key }: { app: string; company: string; key: string }) {
  const service = `${flow.countersign.url}/compat/twilio/v2/Services/${twilioSid('app', app)}`
  const response = await fetch(`${service}/Verifications`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${twilioSid('cmp', company)}:${key}`).toString('base64')}` },
    body: new URLSearchParams({ To: NUMBER, Channel: 'sms', Tags: JSON.stringify({ phone: NUMBER }) }),
  })
  const { sid, send_code_attempts } = (await response.json()) as { sid: string; send_code_attempts: unknown[] }
  expect(send_code_attempts, 'it joined').to.have.length(2)
  return otpIdOfSid(sid) ?? expect.fail('its SID is no id')
}

async function leaveTraces(flow: Flow, endpoint: Receiver): Promise<Person> {
  const { app, company, server } = await flow.createTenant(SETTINGS)
  await flow.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: 100 }] })
  await flow.admin('POST', `/companies/${company}/credit`, { micros: 10_000, note: 'a transfer' })
  await flow.admin('PUT', `/apps/${app}/providers/box`, { channel: 'sms', type: 'sandbox', config: {} })
  const live = await flow.createKey(app, 'server', 'live')
  const device = await flow.createKey(app, 'publishable', 'live')
  await flow.advance(CACHE_TTL_MS)
  // Enough sends without a verified code to numbers of one block for the fraud guard to record a decision.
  for (let nth = 0; nth < 21; nth += 1) expect((await server.send(otherNumber(nth))).status).to.equal(200)
  await flow.eventually(async () => expect(await flow.events(app)).to.have.length(21))
  // The endpoint is set only now, so that it gets events of this recipient alone.
  await flow.admin('PUT', `/apps/${app}/webhook`, { url: `http://127.0.0.1:${endpoint.port}/hooks` })
  await flow.advance(3 * MINUTE_MS)

  const first = await server.send(NUMBER, { client_ip: '81.2.69.142', idempotency: `sign up ${NUMBER}` })
  const code = await flow.waitForCode(NUMBER)
  await server.verify(first.body.otp_id, wrongCode(code))
  expect((await server.verify(first.body.otp_id, code)).body.matched).to.equal(true)
  const chat = (await server.send(NUMBER, { metadata: { phone: NUMBER } })).body.otp_id
  const joined = await createByTwilio(flow, { app, company, key: server.key })
  const link = (await server.resend(chat, 'whatsapp')).body.action_url
  const text = new URL(link).searchParams.get('text') ?? ''
  await flow.admin('POST', '/sandbox/inbound', { app_id: app, from: NUMBER, text })
  await flow.waitForCode(NUMBER, 4)
  const paid = (await live.send(NUMBER, { idempotency: `again ${NUMBER}` })).body.otp_id
  await flow.waitForCode(NUMBER, 5)
  const byDevice = (await device.send(NUMBER, { forwarded: '81.2.69.142' })).body.otp_id
  await flow.waitForCode(NUMBER, 6)
  expect((await server.resend(first.body.otp_id)).body.type).to.equal('ResendNotAllowedError')
  const otp_ids = [first.body.otp_id, chat, joined, paid, byDevice]

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
    const holding = await collectionsHolding(store, [...traces, ...otp_ids], flow.clock.now())
    expect([...holding]).to.include.members([...wanted, 'events', 'ledger'])
    expect([...holding].filter(name => PERSONAL_DATA[name] === 'never')).to.deep.equal([])
    const events = (await flow.events(app)).filter(({ payload }) => otp_ids.includes(payload.otp_id ?? ''))
    for (const { attempts } of events)
      expect(attempts[0]?.response, 'the stored answer of the endpoint').to.equal('thanks to [phone]')
    // The fraud guard stores a number a moment later. Neither that nor an endpoint's answer must come after the erasure.
    expect(await latestBlockEntryAt(store)).to.be.at.least(await firstDeliveryAt(store, chat))
    expect(events).to.have.length(EVENTS_OF_PERSON)
  })
  const events = (await store.docs('events').find({ app_id: app }, { sort: { _id: 1 }, limit: 1_000 })).filter(event =>
    otp_ids.includes(event.payload.otp_id ?? ''),
  )
  const answers = events.flatMap(({ attempts }) => attempts.flatMap(({ sealed_response }) => sealed_response ?? []))
  expect(answers, 'sealed answers').to.have.length(EVENTS_OF_PERSON)
  const indexes = (['live', 'test'] as const).flatMap(mode => recipientIndexes(keyring, { app_id: app, mode }, NUMBER))
  return { app, otp_ids, indexes, traces: [...new Set([...traces, ...answers])], code }
}

async function firstDeliveryAt(store: CountersignStore, otp_id: string): Promise<number> {
  const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
  return doc?.context.deliveries[0]?.created_at ?? Number.POSITIVE_INFINITY
}

async function latestBlockEntryAt(store: CountersignStore): Promise<number> {
  const blocks = await store.docs('fraud_blocks').find({}, { sort: { _id: 1 }, limit: 1_000 })
  return Math.max(0, ...blocks.flatMap(({ state }) => state.numbers.map(({ at }) => at)))
}

function indexesOf(keyring: Keyring, app_id: string): string[] {
  const own = (['live', 'test'] as const).flatMap(mode => [
    ...recipientIndexes(keyring, { app_id, mode }, NUMBER),
    blockTags(keyring, { app_id, mode }, NUMBER).tag,
  ])
  return [...own, sandboxIndex(keyring, NUMBER)]
}

/** The sealed texts of the verifications, the references of their links, and the hashes of their idempotency keys. */
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

/** No file of an embedded store has the number, not even where something was removed. */
async function expectNoFile(folder: string): Promise<void> {
  for (const bytes of await dataFiles(folder))
    expect(bytes.includes(NUMBER.slice(3)), 'the number in a file').to.equal(false)
}

async function expectNoTraces(store: CountersignStore, person: Person, now: number): Promise<void> {
  const { traces, indexes, otp_ids } = person
  for (const trace of traces) {
    const holding = [...(await collectionsHolding(store, [trace], now))]
    const isKept = (name: CollectionName) => PERSONAL_DATA[name] === 'index' && indexes.includes(trace)
    expect(
      holding.filter(name => !isKept(name)),
      trace,
    ).to.deep.equal([])
  }
  for (const name of await collectionsHolding(store, otp_ids, now)) expect(PERSONAL_DATA[name], name).to.equal('ids')
}

onEachEngineSet('the personal data of a recipient', (engines: EngineSet) => {
  let flow: Flow
  let endpoint: Receiver
  let person: Person

  beforeEach(async () => {
    endpoint = await startReceiver((_, response) => void response.end(`thanks to ${NUMBER}`))
    flow = await startFlow({ engines, env: ENV })
    person = await leaveTraces(flow, endpoint)
  })
  afterEach(async () => {
    await flow.stop()
    await endpoint.close()
  })

  async function exportPerson(): Promise<PersonExportAnswer> {
    const { status, body, text } = await flow.admin('POST', `/apps/${person.app}/export`, { recipient: NUMBER })
    expect(status, text).to.equal(200)
    return body
  }

  it('is exported from every collection that has it, unmasked, and without what only the service needs', async () => {
    const exported = await exportPerson()
    for (const [name, shown] of Object.entries(SHOWN))
      expect(shown(exported).length > 0, `${name} in ${LIST_OF[name as keyof typeof LIST_OF]}`).to.equal(
        // The person was not erased before, and did not say STOP.
        name !== 'erasures' && name !== 'recipient_rules',
      )
    const ids = exported.verifications.flatMap(({ otp_id, joined }) => [otp_id, ...joined.map(one => one.otp_id)])
    expect(ids).to.have.members(person.otp_ids)
    for (const { recipient } of exported.verifications) expect(recipient).to.equal(NUMBER)
    const text = JSON.stringify(exported)
    for (const own of ['81.2.69.142', `sign up ${NUMBER}`, `"phone":"${NUMBER}"`, 'thanks to [phone]'])
      expect(text).to.include(own)
    for (const hidden of [...person.indexes, ...person.traces.filter(isHidden)]) expect(text).not.to.include(hidden)
    expect(text, 'the code').not.to.match(new RegExp(`\\b${person.code}\\b`))
  })

  it('is gone from the store after an erasure, and later answers of the endpoint are not stored', async () => {
    const { app, otp_ids } = person
    const exported = await exportPerson()
    const { status, body } = await flow.admin('POST', `/apps/${app}/erase`, { recipient: NUMBER })
    expect(status).to.equal(200)
    expect(countsOf(exported), 'what the export showed').to.deep.equal(body)
    expect(body).to.include({ verifications: 4, idempotency_keys: 2, blocks: 1, decisions: 3, refusals: 1 })
    expect(body.events).to.equal(EVENTS_OF_PERSON)
    const { store } = flow.countersign.engines
    await expectNoTraces(store, person, flow.clock.now())
    if (engines === 'embedded') await expectNoFile(flow.countersign.config.dataDir)
    const { app_id, recipient, exported_at, ...lists } = await exportPerson()
    expect(Object.entries(lists).filter(([, items]) => items.length > 0)).to.deep.equal([['erasures', lists.erasures]])
    expect(lists.erasures).to.have.length(1)

    const [event] = (await flow.admin('GET', `/apps/${app}/events?otp_id=${otp_ids[0]}`)).body.items
    expect((await flow.admin('POST', `/events/${event.id}/replay`, {})).status).to.be.oneOf([200, 202])
    await flow.eventually(async () => {
      const [again] = (await flow.admin('GET', `/apps/${app}/events?otp_id=${otp_ids[0]}`)).body.items
      expect(again).to.include({ round: 2, status: 'delivered' })
      expect(again.attempts.at(-1)).to.include({ status: 200, response: null })
    })
    await expectNoTraces(store, person, flow.clock.now())
  })

  it('is gone from the store after the retention time of the app', async () => {
    const at = flow.clock.now()
    const patched = await flow.admin('PATCH', `/apps/${person.app}`, { settings: { retention_days: 1 } })
    expect(patched.status).to.equal(200)
    await flow.advanceUntil(flow.countersign.stop())
    // A clock that stands still would run every timer of two days, so the process starts again with a later clock.
    const clock = engines === 'embedded' ? testClock(at + TWO_DAYS_MS) : createRunningClock()
    if (engines === 'real') await clock.advance(Math.max(0, at - clock.now()) + TWO_DAYS_MS)
    const env = { CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200', ...ENV }
    const later = await startCountersign({ engines, site: flow.countersign.site, clock, env })
    try {
      await eventually(async () => {
        await clock.advance(2_000)
        await expectNoTraces(later.engines.store, person, clock.now())
      })
      if (engines === 'embedded') await expectNoFile(later.config.dataDir)
    } finally {
      await later.stop()
    }
  })
})
