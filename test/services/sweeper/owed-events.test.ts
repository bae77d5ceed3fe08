import { expect } from 'chai'
import type { Depth, Message } from '../../../infra/broker/broker.ts'
import { newId } from '../../../infra/ids.ts'
import { DAY_MS, SECOND_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Delivery } from '../../../machines/otp.ts'
import { reconcile } from '../../../services/dashboard/money/reconcile.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { type Accounts, createAccounts } from '../../../services/domain/money/accounts.ts'
import { refundEntry } from '../../../services/domain/money/documents.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { lookForEventsAt } from '../../../services/domain/verifications/owed.ts'
import type { EventDoc } from '../../../services/domain/webhooks/documents.ts'
import { eventIdFor } from '../../../services/domain/webhooks/event-ids.ts'
import { newEvent, newEventFields } from '../../../services/domain/webhooks/new-event.ts'
import type { NotifyBody } from '../../../services/domain/webhooks/queue-messages.ts'
import { createOwedEventSweeps } from '../../../services/sweeper/owed-events.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { hold as testHold } from '../../support/money.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { addApp } from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

const EMPTY: Depth = { ready: 0, consumers: 1, dead: 0, oldestMs: null, brokerName: null }
const LOOK_AFTER = lookForEventsAt(0)

eachStore('sweeping events that are owed', fresh => {
  let clock: TestClock
  let store: CountersignStore
  let published: Message[]
  let depth: Depth
  let sweeps: ReturnType<typeof createOwedEventSweeps>
  /** As another process has them that takes over. */
  const newSweeps = ({ soleProcess = false, on = store } = {}) =>
    createOwedEventSweeps({
      store: on,
      clock,
      accounts: createAccounts({ store: on, clock, log: createCapturedLog().log }),
      soleProcess,
      log: createCapturedLog().log,
      broker: { publish: async (_, message) => void published.push(message), depth: async () => depth },
    })
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    published = []
    depth = EMPTY
    sweeps = newSweeps()
  })

  const sweep = async (): Promise<number> => (await sweeps.owed_events?.([0])) ?? 0
  const otpId = (): string => newId('otp', clock.now())
  /** A verification that was approved now. */
  const insert = async (
    _id: string,
    more: Partial<OtpDoc> = {},
    deliveries: Partial<Delivery>[] = [],
  ): Promise<void> => {
    const at = clock.now()
    const context = { otp_id: _id, code: {}, deliveries, approval: { at } }
    const saved = { machine: 'otp', version: 1, value: 'approved', context, last_commands: [] }
    const owner = { company_id: 'cmp_1', app_id: 'app_1', mode: 'live', partition: 3 }
    const doc = {
      _id,
      rev: 1,
      ...saved,
      ...owner,
      outbox: [],
      outbox_at: null,
      events_at: lookForEventsAt(at),
      ...more,
    }
    await store.docs('otps').insert([doc as unknown as OtpDoc])
  }
  const storeEvent = (body: Partial<NotifyBody>, more: Partial<EventDoc> = {}): Promise<unknown> => {
    const event: NotifyBody = {
      event_id: newId('evt', clock.now()),
      app_id: 'app_1',
      company_id: 'cmp_1',
      mode: 'live',
      type: 'otp.approved',
      payload: {},
      at: clock.now(),
      ...body,
    }
    return store.docs('events').insert([{ ...newEvent(newEventFields(event, null, undefined), 'delivered'), ...more }])
  }
  const ids = (): string[] => published.map(({ id }) => id)
  const eventsAt = async (id: string): Promise<number> => (await store.docs('otps').get([id])).get(id)?.events_at ?? 0

  it('publishes one again that is not stored, after 1, 2 and 4 minutes again, with the message of the first time', async () => {
    const [id, at] = [otpId(), clock.now()]
    await insert(id)
    await clock.advance(LOOK_AFTER - 1)
    expect(await sweep()).to.equal(0)
    await clock.advance(1)
    expect(await sweep()).to.equal(1)
    const event_id = eventIdFor(id, at)
    const owner = { app_id: 'app_1', company_id: 'cmp_1', mode: 'live' }
    const body = { event_id, ...owner, type: 'otp.approved', payload: { otp_id: id, status: 'approved' }, at }
    expect(published).to.deep.equal([{ id: event_id, body }])
    const waits: number[] = []
    for (let times = 0; times < 3; times += 1) {
      waits.push((await eventsAt(id)) - clock.now())
      await clock.advance(waits.at(-1) ?? 0)
      await sweep()
    }
    expect(waits).to.deep.equal([60_000, 120_000, 240_000])
    expect(ids()).to.deep.equal([event_id, event_id, event_id, event_id])
    await clock.advance(DAY_MS + SECOND_MS)
    await sweep()
    expect(published, 'a day later').to.have.length(4)
  })

  it('finds those of deliveries and of a last wrong guess as well', async () => {
    const [id, at] = [otpId(), clock.now()]
    const ended = (status: Delivery['status']) => ({ delivery_id: newId('dlv', at), status, updated_at: at - 5 })
    const [delivered, failed, sent] = [ended('delivered'), ended('failed'), ended('sent')]
    const context = { otp_id: id, code: {}, deliveries: [delivered, failed, sent], approval: null, failed_at: at }
    await insert(id, { value: 'failed', context } as unknown as Partial<OtpDoc>)
    await clock.advance(LOOK_AFTER)
    await sweep()
    const expected = [
      eventIdFor(delivered.delivery_id, at - 5),
      eventIdFor(failed.delivery_id, at - 5),
      eventIdFor(id, at),
    ]
    expect(ids()).to.deep.equal(expected)
    const types = published.map(({ body }) => (body as NotifyBody).type)
    expect(types).to.deep.equal(['delivery.delivered', 'delivery.failed', 'otp.failed'])
  })

  it('writes nothing for a verification whose events are stored, and does not look at it again', async () => {
    const ids = [otpId(), otpId(), otpId()]
    const [id = '', former = '', ofLater = ''] = ids
    for (const one of ids) await insert(one)
    await storeEvent({ event_id: eventIdFor(id, clock.now()) })
    // A former release gave it another id, and a later endpoint alone got one.
    await storeEvent({ payload: { otp_id: former, status: 'approved' } })
    const later = eventIdFor(ofLater, clock.now())
    const payload = { otp_id: ofLater, status: 'approved' }
    await storeEvent({ event_id: later, payload }, { _id: `${later}:whk_1`, endpoint_id: 'whk_1' })
    const before = await store.docs('otps').get(ids)
    await clock.advance(LOOK_AFTER)
    expect(await sweep()).to.equal(3)
    expect(await store.docs('otps').get(ids)).to.deep.equal(before)
    expect(await sweep()).to.equal(0)
    sweeps = newSweeps()
    expect(await sweep()).to.equal(0)
    expect(published).to.deep.equal([])
  })

  it('leaves one to a queue that may hold it, and looks again', async () => {
    const [id, at] = [otpId(), clock.now()]
    const event_id = eventIdFor(id, at)
    await insert(id)
    // Events of apps without an endpoint do not go through the queue.
    await storeEvent({}, { status: 'unsent' })
    for (const oldestMs of [null, 120_000]) {
      await clock.advance((await eventsAt(id)) - clock.now())
      depth = { ...EMPTY, ready: 5, oldestMs }
      expect(await sweep(), String(oldestMs)).to.equal(1)
    }
    expect(published).to.deep.equal([])
    // The queue is as busy as before, and the webhook actor has stored an event that is younger.
    depth = { ...EMPTY, ready: 5 }
    await storeEvent({})
    await clock.advance((await eventsAt(id)) - clock.now())
    await sweep()
    expect(ids()).to.deep.equal([event_id])
  })

  it('is done in the order of time by one process, which goes on where another stopped', async () => {
    const all = Array.from({ length: 250 }, otpId)
    for (const id of all) {
      await insert(id)
      await clock.advance(1)
    }
    await clock.advance(LOOK_AFTER)
    expect(await sweeps.owed_events?.([1, 2])).to.equal(0)
    expect(await sweep()).to.equal(200)
    sweeps = newSweeps()
    expect(await sweep()).to.equal(50)
    expect(new Set(ids()).size).to.equal(250)
    expect(await sweep()).to.equal(0)
  })

  it('looks at once for those from before the start of the only process, and for later ones in their time', async () => {
    const [before, after] = [otpId(), otpId()]
    await insert(before)
    const at = clock.now()
    await clock.advance(1)
    sweeps = newSweeps({ soleProcess: true })
    await insert(after)
    expect(await sweep()).to.equal(1)
    expect(ids()).to.deep.equal([eventIdFor(before, at)])
    await clock.advance(LOOK_AFTER)
    await sweep()
    expect(ids()).to.deep.equal([eventIdFor(before, at), eventIdFor(after, at + 1)])
  })

  it('publishes the event of an expiry again where an endpoint asked for it, and of no other expiry', async () => {
    const [asked, other] = [otpId(), otpId()]
    const at = clock.now()
    const expired = (otp_id: string, more: object): Partial<OtpDoc> =>
      ({ value: 'expired', context: { otp_id, deliveries: [], approval: null, ...more } }) as never
    await insert(asked, expired(asked, { ended_at: at }))
    await insert(other, expired(other, {}))
    await clock.advance(LOOK_AFTER)
    await sweep()
    expect(published.map(({ id, body }) => [id, (body as NotifyBody).type])).to.deep.equal([
      [eventIdFor(asked, at), 'otp.expired'],
    ])
  })

  describe('finds entries of the ledger whose messages were lost', () => {
    const PRICE = 500
    let accounts: Accounts
    let otp_id: string
    beforeEach(async () => {
      accounts = createAccounts({ store, clock, log: createCapturedLog().log })
      const account = { balance: 0, seq: 0, batches: [], looked_up: 0, spent: {} }
      await store.docs('companies').insert([{ _id: 'cmp_1', name: 'Acme', created_at: 0, rev: 0, ...account }])
      await addApp(store)
      await accounts.enter('cmp_1', { ...testHold('', '', -4 * PRICE), entry: 'credit:1', kind: 'credit' })
      otp_id = otpId()
    })
    afterEach(() => accounts.settled())

    const paid = (status: Delivery['status'], charge?: Delivery['charge']): Partial<Delivery> => ({
      delivery_id: newId('dlv', clock.now()),
      status,
      micros: PRICE,
      updated_at: clock.now(),
      ...(charge === undefined ? {} : { charge }),
    })
    async function insertPaid(...deliveries: Partial<Delivery>[]): Promise<void> {
      for (const { delivery_id = '' } of deliveries) await accounts.enter('cmp_1', testHold(otp_id, delivery_id, PRICE))
      for (const { delivery_id = '' } of deliveries) accounts.confirmHold(delivery_id)
      await accounts.settled()
      await insert(otp_id, {}, deliveries)
    }
    const problems = async () => (await reconcile(store, 'cmp_1')).problems
    const entered = async () => {
      await accounts.flush('cmp_1')
      const all = await store.docs('ledger').find({ company_id: 'cmp_1' }, { sort: { _id: 1 }, limit: 100 })
      return all.slice(1).map(({ kind, delivery_id }) => [kind, delivery_id])
    }

    it('of deliveries that failed, and makes each once', async () => {
      const [failed, again, kept] = [paid('failed'), paid('failed', 'again'), paid('failed', 'kept')]
      const sent = paid('sent')
      await insertPaid(failed, again, kept, sent)
      expect(await problems()).to.have.length(3)
      await clock.advance(LOOK_AFTER)
      await sweep()
      expect(await problems()).to.deep.equal([])
      expect((await entered()).slice(4)).to.deep.equal([
        ['refund', failed.delivery_id],
        ['refund', again.delivery_id],
        ['recharge', again.delivery_id],
      ])
      // It is looked at again after the next change, and the message may still come, as a dead letter that is tried again.
      await store.docs('otps').modify({ _id: otp_id }, { $set: { events_at: lookForEventsAt(clock.now()) } })
      await accounts.enter('cmp_1', refundEntry(otp_id, failed.delivery_id ?? '', PRICE))
      await clock.advance(LOOK_AFTER)
      await sweep()
      expect(await accounts.balance('cmp_1')).to.equal(PRICE)
    })

    it('and makes them once the store is back', async () => {
      await insertPaid(paid('failed'))
      let isAway = true
      const on = interceptWrites(store, {
        before(call) {
          if (isAway && call === 'companies.modify') throw new Unavailable('away')
        },
      })
      sweeps = newSweeps({ on })
      await clock.advance(LOOK_AFTER)
      expect(await sweep().catch(error => error)).to.be.instanceOf(Unavailable)
      isAway = false
      await sweep()
      expect(await problems()).to.deep.equal([])
    })

    it('and makes none for a change that a primary of the store knew which was cut off', async () => {
      const delivered = paid('delivered')
      await insertPaid(delivered)
      const deliveries = [{ ...delivered, status: 'failed' } as Delivery]
      const on = overrideDocs(store, 'otps', ({ find }) => ({
        find: async (...args) =>
          (await find(...args)).map(doc => ({ ...doc, context: { ...doc.context, deliveries } })),
      }))
      sweeps = newSweeps({ on })
      await clock.advance(LOOK_AFTER)
      await sweep()
      expect(await problems()).to.deep.equal([])
      expect(await accounts.balance('cmp_1')).to.equal(3 * PRICE)
    })
  })
})
