// Retention that is shortened applies to existing documents within a minute; lengthening it brings nothing back.
import { expect } from 'chai'
import { newId } from '../../../infra/ids.ts'
import { DAY_MS } from '../../../infra/time.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { EventAttempt, EventDoc } from '../../../services/domain/webhooks/documents.ts'
import { createRetentionSweeps } from '../../../services/sweeper/retention.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { startOtpActor } from '../../support/otp.actor.ts'
import { addApp } from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('retention', fresh => {
  let store: CountersignStore
  let clock: TestClock
  let sweep: () => Promise<unknown>
  beforeEach(async () => {
    store = await fresh()
    clock = testClock()
    for (const app of ['app_1', 'app_2']) await addApp(store, { retention_days: 30 }, app)
    const { retention } = createRetentionSweeps({ store, clock, log: createCapturedLog().log })
    sweep = async () => retention?.([0])
  })

  /** A verification of so many days ago, with an attempt and a sandbox message. */
  async function addVerification(app: string, days: number): Promise<string> {
    const actor = await startOtpActor(store)
    const at = clock.now()
    await actor.clock.advance(at - days * DAY_MS - actor.clock.now())
    const { otp_id } = await actor.send({ company: 'cmp_1', app, recipient: '+14155550123' })
    await actor.close()
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
    const delivery_id = doc?.context.deliveries[0]?.delivery_id ?? ''
    const purge_at = new Date(at + 30 * DAY_MS)
    const call = { otp_id, app_id: app, delivery_id, channel: 'sms' as const, provider: 'box', round: 1, at, purge_at }
    await store.docs('attempts').insert([{ _id: `${delivery_id}:box`, ...call, result: null, reference: null, rev: 1 }])
    const message = { app_id: app, company_id: 'cmp_1', otp_id, generation: 1, locale: 'en', recipient: 'x', at }
    await store.docs('sandbox_messages').insert([{ _id: delivery_id, ...message, purge_at }])
    return otp_id
  }
  async function addDecision(app_id: string, days: number): Promise<string> {
    const at = clock.now() - days * DAY_MS
    const [_id, otp_id] = [newId('frd', at), newId('otp', at)]
    const verdict = { enforced: true, outcome: 'refused', verdict: 'refuse', score: 1 } as const
    const whom = { reasons: [], recipient: 'x', masked: '+1****23', country: 'US' }
    const about = { app_id, company_id: 'cmp_1', mode: 'test', at, otp_id, channel: null, unrecorded: 0 } as const
    const purge_at = new Date(at + 30 * DAY_MS)
    await store.docs('fraud_decisions').insert([{ _id, ...about, ...verdict, ...whom, purge_at }])
    return _id
  }
  async function addRefusal(app_id: string, days: number): Promise<string> {
    const at = clock.now() - days * DAY_MS
    const _id = newId('rfs', at)
    const whom = { key_id: 'key_1', request_id: null, recipient: 'x', masked: '+1****23', country: 'US' }
    const why = { type: 'GeoBlockedError', scope: null, mode: 'live' } as const
    const purge_at = new Date(at + 7 * DAY_MS)
    await store.docs('refusals').insert([{ _id, app_id, company_id: 'cmp_1', at, ...whom, ...why, purge_at }])
    return _id
  }
  const remainingIds = async () => {
    const names = ['otps', 'attempts', 'sandbox_messages', 'fraud_decisions'] as const
    const page = { sort: { _id: 1 }, limit: 1_000 } as const
    const ids = await Promise.all(
      names.map(async name =>
        (await store.docs(name).find({}, page)).map(doc => ('otp_id' in doc ? doc.otp_id : doc._id)),
      ),
    )
    return ids
  }
  const setRetention = (app: string, retention_days: number) =>
    store.docs('apps').modify({ _id: app }, { $set: { settings: { retention_days } } })

  it('that was shortened applies to existing documents of that app alone', async () => {
    const [old, young, other] = [
      await addVerification('app_1', 10),
      await addVerification('app_1', 2),
      await addVerification('app_2', 10),
    ]
    const [decision, kept] = [await addDecision('app_1', 10), await addDecision('app_2', 10)]
    const refusals = [await addRefusal('app_1', 6), await addRefusal('app_1', 2), await addRefusal('app_2', 6)]
    await sweep()
    expect((await remainingIds())[0]).to.have.members([old, young, other])
    await setRetention('app_1', 5)
    await sweep()
    expect((await remainingIds())[0], 'swept once a minute').to.have.length(3)
    await clock.advance(60_000)
    await sweep()
    const [otps, attempts, messages] = await remainingIds()
    for (const ids of [otps, attempts, messages]) expect(ids).to.have.members([young, other])
    const decisions = await store.docs('fraud_decisions').get([decision, kept])
    expect([...decisions.keys()]).to.deep.equal([kept])
    expect([...(await store.docs('refusals').get(refusals)).keys()]).to.have.members(refusals.slice(1))
  })

  it('that will be shortened does not apply before its time', async () => {
    const old = await addVerification('app_1', 10)
    const pending_retention = { retention_days: 5, effective_at: clock.now() + 60_001 }
    await store.docs('apps').modify({ _id: 'app_1' }, { $set: { pending_retention } })
    await sweep()
    await clock.advance(60_000)
    await sweep()
    expect((await remainingIds())[0], 'a millisecond before').to.deep.equal([old])
    await clock.advance(60_000)
    await sweep()
    expect((await remainingIds())[0]).to.deep.equal([])
  })

  describe('of events', () => {
    const answer = (at: number): EventAttempt => ({
      round: 1,
      attempt: 1,
      at,
      ms: 1,
      status: 200,
      error: null,
      sealed_response: 'v1.k1.sealed',
    })
    async function happened(app_id: string, days: number, more: Partial<EventDoc> = {}): Promise<string> {
      const at = clock.now() - days * DAY_MS
      const _id = newId('evt', at)
      const about = { app_id, company_id: 'cmp_1', mode: 'live', type: 'otp.approved' } as const
      const event: EventDoc = {
        _id,
        ...about,
        payload: { otp_id: newId('otp', at) },
        created_at: at,
        status: 'delivered',
        partition: 0,
        round: 1,
        tries: 1,
        rev: 1,
        attempts: [answer(at)],
        purge_at: new Date(clock.now() + 90 * DAY_MS),
        ...more,
      }
      await store.docs('events').insert([event])
      return _id
    }
    const kept = async () => {
      const events = await store.docs('events').find({}, { sort: { _id: 1 }, limit: 1_000 })
      return new Map(
        events.map(({ _id, attempts }) => [_id, attempts.map(({ sealed_response }) => sealed_response !== null)]),
      )
    }

    it('erases their answers with the verifications, and the events once they cannot be sent any more', async () => {
      const [old, young] = [await happened('app_1', 10), await happened('app_1', 2)]
      const mid = await happened('app_1', 6)
      const silent = await happened('app_1', 6, { attempts: [], status: 'held', backlog: 'recovery' })
      const other = await happened('app_2', 10)
      // An old event that was sent again recently.
      const lately = await happened('app_1', 11, { attempts: [answer(0), answer(clock.now() - DAY_MS)] })
      await sweep()
      expect((await kept()).size).to.equal(6)
      await setRetention('app_1', 5)
      await clock.advance(60_000)
      await sweep()
      const now = await kept()
      expect([...now.keys()])
        .to.have.members([young, mid, silent, other, lately])
        .and.not.include(old)
      expect(now.get(young)).to.deep.equal([true])
      expect(now.get(mid)).to.deep.equal([false])
      expect(now.get(lately)).to.deep.equal([false, false])
      expect(now.get(other)).to.deep.equal([true])
      const waiting = (await store.docs('events').get([silent])).get(silent)
      expect(waiting, 'later answers are not kept either').to.include({
        discard_answers: true,
        rev: 1,
      })
    })

    it('erases the answers to test events after three days, and those to live events after the app’s retention', async () => {
      const [old, young] = [await happened('app_1', 4, { mode: 'test' }), await happened('app_1', 2, { mode: 'test' })]
      const live = await happened('app_1', 4)
      await sweep()
      const now = await kept()
      expect(now.get(old)).to.deep.equal([false])
      expect(now.get(young)).to.deep.equal([true])
      expect(now.get(live)).to.deep.equal([true])
      await clock.advance(2 * DAY_MS)
      await sweep()
      expect((await kept()).get(young)).to.deep.equal([false])
      expect((await kept()).get(live)).to.deep.equal([true])
    })

    it('goes on behind events that are kept because they were sent again', async () => {
      const attempts = [answer(clock.now())]
      const first = await happened('app_1', 10, { attempts })
      const template = (await store.docs('events').get([first])).get(first) as EventDoc
      const many = Array.from({ length: 2_300 }, (_, nth) => ({
        ...template,
        _id: newId('evt', template.created_at + nth),
      }))
      for (let from = 0; from < many.length; from += 500)
        await store.docs('events').insert(many.slice(from, from + 500))
      const [old, other] = [await happened('app_1', 9), await happened('app_2', 10)]
      for (const app of ['app_1', 'app_2']) await setRetention(app, 5)
      for (let run = 0; run < 4; run += 1) await sweep()
      expect([...(await store.docs('events').get([old, other])).keys()]).to.deep.equal([])
      expect(await store.docs('events').count({ app_id: 'app_1' })).to.equal(2_301)
    })

    it('looks at each event once, however long it is kept', async () => {
      await setRetention('app_1', 1)
      const _id = await happened('app_1', 3)
      await sweep()
      expect((await kept()).get(_id)).to.deep.equal([false])
      await store.docs('events').modify({ _id }, { $set: { attempts: [answer(clock.now())] } })
      const next = await happened('app_1', 2)
      await clock.advance(60_000)
      await sweep()
      expect((await kept()).get(_id)).to.deep.equal([true])
      expect((await kept()).get(next)).to.deep.equal([false])
    })
  })

  it('of an app whose settings cannot be read does not stop that of other apps', async () => {
    const [kept, gone] = [await addVerification('app_1', 10), await addVerification('app_2', 10)]
    await store.docs('apps').modify({ _id: 'app_1' }, { $set: { settings: { routing: { default: ['pigeon'] } } } })
    await setRetention('app_2', 5)
    await clock.advance(60_000)
    await sweep()
    expect((await remainingIds())[0]).to.deep.equal([kept])
    expect(kept).not.to.equal(gone)
  })

  it('that was lengthened leaves the purge time, and a new verification with an old id is kept', async () => {
    const [id, renewed] = [await addVerification('app_1', 2), await addVerification('app_2', 10)]
    const purge_at = (await store.docs('otps').get([id])).get(id)?.purge_at
    await setRetention('app_1', 300)
    await store.docs('otps').modify({ _id: renewed }, { $set: { created_at: clock.now() } })
    await setRetention('app_2', 5)
    await sweep()
    expect((await store.docs('otps').get([id])).get(id)?.purge_at).to.deep.equal(purge_at)
    expect((await remainingIds())[0]).to.have.members([id, renewed])
  })

  it('continues with the next run when there is too much for one', async () => {
    const template = (await store.docs('otps').get([await addVerification('app_1', 10)])).values().next().value
    if (!template) throw new Error('nothing was sent')
    const many = Array.from({ length: 2_300 }, (_, at) => ({
      ...template,
      _id: newId('otp', template.created_at + at),
      created_at: template.created_at + at,
    }))
    for (let from = 0; from < many.length; from += 500) await store.docs('otps').insert(many.slice(from, from + 500))
    const other = await addVerification('app_2', 10)
    for (const app of ['app_1', 'app_2']) await setRetention(app, 5)
    await sweep()
    expect(await store.docs('otps').count({ app_id: 'app_1' })).to.equal(301)
    expect((await store.docs('otps').get([other])).size).to.equal(1)
    await sweep()
    expect((await remainingIds())[0]).to.deep.equal([])
  })
})
