// Reports on a broker that keeps them until they are settled: their events are remembered with the command instead of in the outbox.
import { expect } from 'chai'
import { done } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import type { Intent } from '../../../services/otp/commit.ts'
import { createCommitReport } from '../../../services/otp/commit-report.ts'
import { eventually } from '../../support/eventually.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { addEndpoint, reportStatus, type SentOtp, sendOtp, storedOtp } from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../support/tenancy.ts'

const by: Identity = { company_id: 'cmp_1', app_id: 'app_1', mode: 'test', key_id: 'key_server', kind: 'server' }
const DURABLE = { durable: true }

eachStore('a report that comes again until it is settled', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  const actors: TestActor[] = []
  beforeEach(async () => {
    store = await fresh()
    const settings = { verify_attempts: 10 }
    await store
      .docs('apps')
      .insert([{ _id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings, created_at: 0, rev: 0 }])
  })
  afterEach(() => Promise.all(actors.splice(0).map(actor => actor.close())))

  async function start(on = store, options: { durable: boolean } = DURABLE): Promise<TestActor> {
    const actor = await startOtpActor(on, keyring, options)
    await actor.broker.consume('channel.sms', async waiting => waiting.map(done), { prefetch: 10 })
    actors.push(actor)
    return actor
  }
  /** An actor that is cut off before it stores the event of a report. */
  const startDying = () =>
    start(interceptWrites(store, { before: call => (call === 'events.insert' ? new Promise(() => {}) : undefined) }))

  const stored = (otp_id: string): Promise<OtpDoc> => storedOtp(store, otp_id)
  const send = (actor: TestActor): Promise<SentOtp> => sendOtp(actor, store)
  const events = async () =>
    (await store.docs('events').find({ app_id: 'app_1' }, { sort: { _id: -1 }, limit: 10 })).map(({ type }) => type)
  const rememberedEvents = ({ last_commands }: OtpDoc) => last_commands.flatMap(one => one.events ?? [])

  it('has its event stored when it is settled, and nothing in the outbox', async () => {
    const actor = await start()
    const sent = await send(actor)
    await reportStatus(actor, sent, 'delivered')
    expect(await events()).to.deep.equal(['delivery.delivered'])
    expect((await stored(sent.otp_id)).outbox.filter(({ queue }) => queue === 'webhook.deliver')).to.deep.equal([])
  })

  it('removes the published delivery from the outbox in its own write', async () => {
    const writes: string[] = []
    const actor = await start(interceptWrites(store, { before: call => void writes.push(call) }))
    const sent = await send(actor)
    expect((await stored(sent.otp_id)).outbox).to.have.length(1)
    await reportStatus(actor, sent, 'sent')
    expect(await stored(sent.otp_id)).to.deep.include({ outbox: [], outbox_at: null })
    await reportStatus(actor, sent, 'delivered')
    await actor.clock.advance(10_000)
    expect(writes.filter(call => call === 'otps.update')).to.deep.equal([])
  })

  it('keeps a delivery that is not published yet', async () => {
    const actor = await startOtpActor(store, keyring, DURABLE)
    actors.push(actor)
    const sent = await send(actor)
    await reportStatus(actor, sent, 'sent')
    const { outbox, outbox_at } = await stored(sent.otp_id)
    expect(outbox.map(({ id }) => id)).to.deep.equal([sent.delivery_id])
    expect(outbox_at).to.equal(actor.clock.now())
  })

  it('causes its event when it comes again to another process, after the first was cut off', async () => {
    const [dying, living] = [await startDying(), await start()]
    const sent = await send(dying)
    void reportStatus(dying, sent, 'delivered').catch(() => {})
    await eventually(async () => expect(rememberedEvents(await stored(sent.otp_id))).to.have.length(1))
    expect(await events()).to.deep.equal([])
    const [remembered] = rememberedEvents(await stored(sent.otp_id))
    for (let times = 0; times < 3; times += 1) await reportStatus(living, sent, 'delivered')
    expect(await events()).to.deep.equal(['delivery.delivered'])
    expect((await store.docs('events').get([remembered?.id ?? ''])).size, 'the same event').to.equal(1)
    expect((await stored(sent.otp_id)).rev, 'it changed once').to.equal(2)
  })

  it('does not lose its event when many commands follow before it comes again', async () => {
    const [dying, living] = [await startDying(), await start()]
    const sent = await send(dying)
    void reportStatus(dying, sent, 'delivered').catch(() => {})
    await eventually(async () => expect(rememberedEvents(await stored(sent.otp_id))).to.have.length(1))
    const wrong = keyring.seal('not a code', inFlight.code)
    for (let guess = 0; guess < 8; guess += 1)
      await living.ask({ type: 'otp.verify', by, otp_id: sent.otp_id, sealed_code: wrong })
    expect(rememberedEvents(await stored(sent.otp_id))).to.deep.equal([])
    await eventually(async () => expect(await events()).to.deep.equal(['delivery.delivered']))
  })

  it('does not keep a message beside it unsettled while its event waits', async () => {
    const actor = await startDying()
    const sent = await send(actor)
    void reportStatus(actor, sent, 'delivered').catch(() => {})
    void actor.broker.publish('otp.reports', { id: 'odd', body: { type: 'odd' } }).catch(() => {})
    await eventually(async () => expect((await actor.broker.depth('otp.reports')).dead).to.equal(1))
    expect(await events()).to.deep.equal([])
  })

  it('leaves a published event out of later writes', async () => {
    const actor = await start()
    const sent = await send(actor)
    await reportStatus(actor, sent, 'delivered')
    expect(rememberedEvents(await stored(sent.otp_id))).to.have.length(1)
    await actor.ask({ type: 'otp.verify', by, otp_id: sent.otp_id, sealed_code: keyring.seal('no', inFlight.code) })
    expect(rememberedEvents(await stored(sent.otp_id))).to.deep.equal([])
  })

  it('puts its effects into the outbox with the time of the write, however old it is', async () => {
    await addEndpoint(store)
    const actor = await start(store, { durable: false })
    const sent = await send(actor)
    const at = actor.clock.now()
    await actor.clock.advance(60_000)
    await reportStatus(actor, sent, 'delivered', at)
    expect(await stored(sent.otp_id)).to.include({ outbox_at: actor.clock.now() })
  })

  it('keeps its event in the outbox where the broker may forget the report', async () => {
    await addEndpoint(store)
    const actor = await start(store, { durable: false })
    const sent = await send(actor)
    await reportStatus(actor, sent, 'delivered')
    const { outbox } = await stored(sent.otp_id)
    expect(outbox.map(({ queue }) => queue)).to.deep.equal(['channel.sms', 'webhook.deliver'])
    expect(rememberedEvents(await stored(sent.otp_id))).to.deep.equal([])
  })
})

describe('the commit of a report', () => {
  it('fails while an event cannot be published, so that the report is retried', async () => {
    const unpublished = [{ id: 'evt_1', queue: 'webhook.deliver' as const, body: {}, at: 1 }]
    const commit = createCommitReport({
      commit: async () => ({ doc: {} as OtpDoc, reply: { kind: 'noted', changed: true }, unpublished }),
      publisher: { publish: async () => Promise.reject(new Unavailable('down')) },
      recentOtps: { get: () => undefined, set: () => {} },
    })
    const intent: Intent = { command: () => ({ id: 'r', type: 'otp.lapse', at: 1 }), trace: undefined }
    expect(await commit('otp_1', null, intent).catch((error: unknown) => error)).to.be.instanceOf(Unavailable)
  })
})
