// What the write of a change does with effects, on a broker that forgets its messages in a crash.
import { expect } from 'chai'
import { done, type Outcome } from '../../../infra/broker/broker.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../../services/otp/verify.ts'
import { eventually } from '../../support/eventually.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { addEndpoint, reportStatus, type SentOtp, sendOtp, storedOtp } from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../support/tenancy.ts'

const by: Identity = { company_id: 'cmp_1', app_id: 'app_1', mode: 'test', key_id: 'key_server', kind: 'server' }

eachStore('the write of a change', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  /** Calls of the store that write verifications or events. */
  let writes: string[]
  /** Called before each of them. */
  let beforeWrite: (call: string) => unknown
  const actors: TestActor[] = []
  beforeEach(async () => {
    store = await fresh()
    writes = []
    beforeWrite = () => {}
    await store
      .docs('apps')
      .insert([{ _id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings: {}, created_at: 0, rev: 0 }])
  })
  afterEach(() => Promise.all(actors.splice(0).map(actor => actor.close())))

  const watched = (): CountersignStore =>
    interceptWrites(store, {
      async before(call) {
        if (!/^(otps|events)\.(insert|change|update)$/.test(call)) return
        writes.push(call)
        await beforeWrite(call)
      },
    })
  const doneAtOnce = async () => done()
  async function start(on: CountersignStore, deliver: () => Promise<Outcome> = doneAtOnce): Promise<TestActor> {
    const actor = await startOtpActor(on, keyring)
    await actor.broker.consume('channel.sms', waiting => Promise.all(waiting.map(deliver)), { prefetch: 10 })
    actors.push(actor)
    return actor
  }

  const stored = (otp_id: string): Promise<OtpDoc> => storedOtp(store, otp_id)
  const queuesIn = ({ outbox }: OtpDoc) => outbox.map(({ queue }) => queue)
  const send = (actor: TestActor): Promise<SentOtp> => sendOtp(actor, store)
  const verify = async (actor: TestActor, otp_id: string) =>
    actor.ask({
      type: 'otp.verify',
      by,
      otp_id,
      sealed_code: keyring.seal(codeOf(keyring, await stored(otp_id)), inFlight.code),
    })
  /** Lets time pass until the outbox is empty. */
  const emptied = (actor: TestActor, otp_id: string): Promise<void> =>
    eventually(async () => {
      await actor.clock.advance(3_000)
      expect((await stored(otp_id)).outbox).to.deep.equal([])
    })
  const events = async () =>
    (await store.docs('events').find({ app_id: 'app_1' }, { sort: { _id: -1 }, limit: 10 })).map(
      ({ type, status }) => `${type} ${status}`,
    )

  it('holds the event of an app without an endpoint, where the store can; else the outbox keeps it', async () => {
    const actor = await start(watched())
    const sent = await send(actor)
    beforeWrite = call => (call === 'events.insert' ? new Promise(() => {}) : undefined)
    await reportStatus(actor, sent, 'delivered')
    const inOutbox = queuesIn(await stored(sent.otp_id)).filter(queue => queue === 'webhook.deliver')
    if (store.insertsWithChanges) {
      expect(await events()).to.deep.equal(['delivery.delivered unsent'])
      expect(inOutbox).to.deep.equal([])
    } else {
      expect(await events()).to.deep.equal([])
      expect(inOutbox).to.deep.equal(['webhook.deliver'])
    }
  })

  it('holds the event of a call as it does that of a report, and is the only write', async () => {
    const actor = await start(watched())
    const { otp_id } = await send(actor)
    await emptied(actor, otp_id)
    writes = []
    expect(await verify(actor, otp_id)).to.include({ kind: 'verified', status: 'approved' })
    await eventually(async () => expect(await events()).to.deep.equal(['otp.approved unsent']))
    await emptied(actor, otp_id)
    const more = store.insertsWithChanges ? [] : ['events.insert', 'otps.update']
    expect(writes).to.deep.equal(['otps.change', ...more])
  })

  it('leaves the event of an app with an endpoint in the outbox', async () => {
    await addEndpoint(store)
    const actor = await start(store)
    const sent = await send(actor)
    await reportStatus(actor, sent, 'delivered')
    expect(queuesIn(await stored(sent.otp_id))).to.deep.equal(['channel.sms', 'webhook.deliver'])
    expect(await events()).to.deep.equal([])
  })

  it('removes a delivery that has ended, although its message is still held', async () => {
    let release: (outcome: Outcome) => void = () => {}
    const actor = await start(watched(), () => new Promise(resolve => (release = resolve)))
    const sent = await send(actor)
    await reportStatus(actor, sent, 'sent')
    expect(queuesIn(await stored(sent.otp_id)), 'sent is not the end').to.deep.equal(['channel.sms'])
    await reportStatus(actor, sent, 'delivered')
    if (store.insertsWithChanges) expect(await stored(sent.otp_id)).to.deep.include({ outbox: [], outbox_at: null })
    release(done())
    await emptied(actor, sent.otp_id)
    await actor.clock.advance(10_000)
    if (store.insertsWithChanges) expect(writes).to.deep.equal(['otps.insert', 'otps.change', 'otps.change'])
  })

  it('removes a published delivery also when a call changes the verification', async () => {
    const actor = await start(watched())
    const { otp_id } = await send(actor)
    await actor.ask({ type: 'otp.verify', by, otp_id, sealed_code: keyring.seal('no', inFlight.code) })
    expect(await stored(otp_id)).to.deep.include({ outbox: [], outbox_at: null })
    await actor.clock.advance(10_000)
    expect(writes).to.deep.equal(['otps.insert', 'otps.change'])
  })

  it('holds one event of two reports that race', async () => {
    const [here, there] = [await start(watched()), await start(store)]
    const sent = await send(here)
    let raced = false
    beforeWrite = async call => {
      if (raced || call !== 'otps.change') return
      raced = true
      await reportStatus(there, sent, 'delivered')
    }
    await reportStatus(here, sent, 'delivered')
    await eventually(async () => expect(await events()).to.deep.equal(['delivery.delivered unsent']))
    expect((await stored(sent.otp_id)).rev, 'it changed once').to.equal(2)
    await eventually(async () => {
      for (const actor of [here, there]) await actor.clock.advance(3_000)
      expect((await stored(sent.otp_id)).outbox).to.deep.equal([])
    })
    expect(await events()).to.deep.equal(['delivery.delivered unsent'])
  })

  it('leaves no event of a verification that was erased meanwhile', async () => {
    const actor = await start(watched())
    const sent = await send(actor)
    beforeWrite = async call => {
      if (call === 'otps.change') await store.docs('otps').remove({ _id: sent.otp_id }, 1)
    }
    await reportStatus(actor, sent, 'delivered')
    await actor.clock.advance(10_000)
    expect(await events()).to.deep.equal([])
  })
})
