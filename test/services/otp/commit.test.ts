// What the write of a change does with effects, and how they leave.
import { expect } from 'chai'
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import { done, type Message, type Outcome } from '../../../infra/broker/broker.ts'
import type { OtpCommand } from '../../../machines/otp.step.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { eventsOf, lookForEventsAt } from '../../../services/domain/verifications/owed.ts'
import { createCommit } from '../../../services/otp/commit.ts'
import { eventually } from '../../support/eventually.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { resendCommand } from '../../support/otp.ts'
import {
  addApp,
  addEndpoint,
  reportStatus,
  SERVER,
  type SentOtp,
  sendOtp,
  storedOtp,
  verifyOtp,
} from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../support/tenancy.ts'

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
    await addApp(store)
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

  it('has no event in the outbox: the verification tells it, and when the sweeper looks for it', async () => {
    const actor = await start(store)
    const sent = await send(actor)
    await reportStatus(actor, sent, 'delivered')
    await eventually(async () => expect(await events()).to.deep.equal(['delivery.delivered unsent']))
    const doc = await stored(sent.otp_id)
    expect(queuesIn(doc)).to.deep.equal([])
    expect(doc.events_at).to.equal(lookForEventsAt(actor.clock.now()))
    expect(await store.docs('events').get(eventsOf(doc).map(({ effect }) => effect.id))).to.have.property('size', 1)
  })

  it('is the only write of a call beside its event', async () => {
    const actor = await start(watched())
    const { otp_id } = await send(actor)
    await emptied(actor, otp_id)
    writes = []
    expect(await verifyOtp(actor, { store, keyring }, otp_id)).to.include({ kind: 'verified', status: 'approved' })
    await eventually(async () => expect(await events()).to.deep.equal(['otp.approved unsent']))
    await actor.clock.advance(10_000)
    expect(writes).to.deep.equal(['otps.change', 'events.insert'])
  })

  it('leaves the event of an app with an endpoint to the webhook actor', async () => {
    await addEndpoint(store)
    const actor = await start(store)
    const taken: unknown[] = []
    const take = async (waiting: Message[]) => {
      taken.push(...waiting.map(({ body }) => body))
      return waiting.map(done)
    }
    await actor.broker.consume('webhook.deliver', take, { prefetch: 10 })
    const sent = await send(actor)
    await reportStatus(actor, sent, 'delivered')
    await eventually(() => expect(taken).to.have.length(1))
    expect(taken[0]).to.deep.include({ type: 'delivery.delivered', app_id: 'app_1' })
    expect(await events()).to.deep.equal([])
  })

  it('is followed by its event when its report comes again, after the process was cut off', async () => {
    const [dying, living] = [await start(watched()), await start(store)]
    const sent = await send(dying)
    beforeWrite = call => (call === 'events.insert' ? new Promise(() => {}) : undefined)
    await reportStatus(dying, sent, 'delivered')
    expect(await events()).to.deep.equal([])
    for (let times = 0; times < 3; times += 1) await reportStatus(living, sent, 'delivered')
    await eventually(async () => expect(await events()).to.deep.equal(['delivery.delivered unsent']))
    expect((await stored(sent.otp_id)).rev, 'it changed once').to.equal(2)
  })

  it('keeps a delivery in the outbox that is not published yet', async () => {
    const actor = await startOtpActor(store, keyring)
    actors.push(actor)
    const sent = await send(actor)
    await reportStatus(actor, sent, 'sent')
    const { outbox, outbox_at } = await stored(sent.otp_id)
    expect(outbox.map(({ id }) => id)).to.deep.equal([sent.delivery_id])
    expect(outbox_at).to.equal(actor.clock.now())
  })

  it('puts effects into the outbox with its own time, however old its report is', async () => {
    await store.docs('apps').update([{ ids: ['app_1'], update: { $set: { settings: { auto_fallback: true } } } }])
    const actor = await start(store)
    const sent = await send(actor)
    const at = actor.clock.now()
    await actor.clock.advance(60_000)
    await reportStatus(actor, sent, 'failed', at)
    expect(await stored(sent.otp_id)).to.include({ outbox_at: actor.clock.now() })
  })

  it('removes a delivery that has ended, although its message is still held', async () => {
    let release: (outcome: Outcome) => void = () => {}
    const actor = await start(watched(), () => new Promise(resolve => (release = resolve)))
    const sent = await send(actor)
    await reportStatus(actor, sent, 'sent')
    expect(queuesIn(await stored(sent.otp_id)), 'sent is not the end').to.deep.equal(['channel.sms'])
    await reportStatus(actor, sent, 'delivered')
    expect(await stored(sent.otp_id)).to.deep.include({ outbox: [], outbox_at: null })
    release(done())
    await eventually(async () => expect(await events()).to.deep.equal(['delivery.delivered unsent']))
    await actor.clock.advance(10_000)
    expect(writes).to.deep.equal(['otps.insert', 'otps.change', 'otps.change', 'events.insert'])
  })

  it('removes a published delivery also when a call changes the verification', async () => {
    const actor = await start(watched())
    const { otp_id } = await send(actor)
    await actor.ask({ type: 'otp.verify', by: SERVER, otp_id, sealed_code: keyring.seal('no', inFlight.code) })
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

  /** Another process resends (or not) between the read of a resend and its write. Out: what was reserved, and given back, by delivery. */
  async function reservationsOfARace(others: 'resends' | 'reports'): Promise<[taken: string[], givenBack: string[]]> {
    const actor = await start(store)
    const sent = await send(actor)
    const [taken, givenBack]: [string[], string[]] = [[], []]
    const otps = store.docs('otps')
    const relay = { publish() {}, published: () => [], removed() {} }
    const deps = {
      joinedIds: store.docs('joined_ids'),
      relay,
      recentOtps: createBoundedMap<OtpDoc>(1),
      clock: actor.clock,
    }
    const by = { app_id: 'app_1', mode: 'test' } as const
    const command = (doc: OtpDoc): OtpCommand => resendCommand(doc, actor.clock.now(), null)
    let raced = false
    const racing: Pick<typeof otps, 'get' | 'change'> = {
      get: ids => otps.get(ids),
      async change(changes) {
        if (!raced && others === 'resends')
          await createCommit({ ...deps, otps })(sent.otp_id, by, { command, trace: undefined })
        if (!raced && others === 'reports') await reportStatus(actor, sent, 'delivered')
        raced = true
        return otps.change(changes)
      },
    }
    const committed = await createCommit({ ...deps, otps: racing })(sent.otp_id, by, {
      command,
      trace: undefined,
      async reserve({ saved }) {
        const delivery = saved.context.deliveries.at(-1)?.delivery_id ?? ''
        taken.push(delivery)
        return { undo: async () => void givenBack.push(delivery) }
      },
    })
    expect(committed).to.have.property('doc')
    return [taken, givenBack]
  }

  it('keeps after a lost race what it reserved for the message, and takes it for no second one', async () => {
    expect(await reservationsOfARace('reports')).to.deep.equal([['dlv_2'], []])
    expect(await reservationsOfARace('resends')).to.deep.equal([['dlv_2', 'dlv_3'], ['dlv_2']])
  })
})
