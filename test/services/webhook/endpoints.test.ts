// Several endpoints of an app: each gets the events it asks for, at its own pace. The webhook actor and the sweeper run in this test.
import { expect } from 'chai'
import { newId } from '../../../infra/ids.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { EventDoc, WebhookEndpoint } from '../../../services/domain/webhooks/documents.ts'
import { eventDocId } from '../../../services/domain/webhooks/event-ids.ts'
import { createWebhookSecret } from '../../../services/domain/webhooks/secrets.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import { createWebhookHarness, hangingEndpoint, MINUTES, SECONDS, type WebhookHarness } from '../../support/webhooks.ts'

onEmbeddedStore('several endpoints of an app', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  beforeEach(async () => {
    store = await fresh()
    harness = await createWebhookHarness(store)
  })
  afterEach(() => harness.stop())

  let slot = 0
  /** Adds an endpoint at `https://<host>.example` to app_shop. */
  async function add(host: string, more: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
    await harness.clock.advance(1)
    const now = harness.clock.now()
    const _id = newId('whk', now)
    slot += 1
    const secrets = [createWebhookSecret(testKeyring(), `whsec_${host}`, { endpoint_id: _id, state: 'current', now })]
    const place = { _id, app_id: 'app_shop', slot: (slot % 9) + 1 }
    const endpoint = { ...place, url: `https://${host}.example/hooks`, status: 'active', secrets, rev: 0 } as const
    await store.docs('webhooks').insert([{ ...endpoint, ...more }])
    await harness.passTime(6 * SECONDS)
    return { ...endpoint, ...more }
  }
  const hostsCalled = (id: string): string[] =>
    harness.callsOf(id).map(({ url }) => new URL(url).hostname.replace('.example', ''))
  const stateAt = async (id: string, endpoint: WebhookEndpoint) => {
    const _id = eventDocId(id, { app_id: 'app_shop', endpoint_id: endpoint._id })
    return (await store.docs('events').get([_id])).get(_id)
  }
  const first = (id: string) => harness.event(id)

  it('get one event each, with one id and the same bytes, signed with their own secrets', async () => {
    const crm = await add('crm')
    const id = await harness.emitEvent('app_shop')
    await harness.soon(async () => {
      expect((await stateAt(id, crm))?.status).to.equal('delivered')
      expect((await first(id)).status).to.equal('delivered')
    })
    const calls = harness.callsOf(id)
    expect(hostsCalled(id)).to.have.members(['app_shop', 'crm'])
    expect(new Set(calls.map(({ body }) => body)).size).to.equal(1)
    expect(calls[0]?.body).to.equal(
      JSON.stringify({ id, type: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } }),
    )
    expect(new Set(calls.map(({ headers }) => headers['x-webhook-signature'])).size).to.equal(2)
  })

  it('get only what they ask for; what no endpoint asks for is unsent', async () => {
    const crm = await add('crm', { events: ['otp.failed', 'otp.expired', 'ops.balance_low'], payload: 'full' })
    const notice = { company_id: 'cmp_acme', subject: 'cmp_acme' }
    const told = await harness.emitEvent('app_shop', { type: 'ops.balance_low', payload: notice })
    const approved = await harness.emitEvent('app_shop')
    const expired = await harness.emitEvent('app_shop', { type: 'otp.expired' })
    const canceled = await harness.emitEvent('app_shop', { type: 'otp.canceled' })
    await harness.settle()
    expect([hostsCalled(approved), hostsCalled(expired), hostsCalled(canceled)]).to.deep.equal([
      ['app_shop'],
      ['crm'],
      [],
    ])
    expect((await stateAt(expired, crm))?.status).to.equal('delivered')
    expect([hostsCalled(told), JSON.parse(harness.callsOf(told)[0]?.body ?? '').payload]).to.deep.equal([
      ['crm'],
      notice,
    ])
    expect((await first(canceled)).status).to.equal('unsent')
  })

  it('are retried, paused and enabled each by itself', async () => {
    const crm = await add('crm')
    harness.respondWith('crm', () => 410)
    const id = await harness.emitEvent('app_shop')
    await harness.soon(async () => expect((await stateAt(id, crm))?.status).to.equal('held'))
    expect((await first(id)).status).to.equal('delivered')
    expect((await harness.endpoint('app_shop')).status).to.equal('active')
    expect((await harness.endpoint(crm._id)).status).to.equal('paused')
    const next = await harness.emitEvent('app_shop')
    await harness.settle()
    expect(hostsCalled(next)).to.deep.equal(['app_shop'])
    harness.respondWith('crm', () => 200)
    await harness.control.enable(crm._id)
    await harness.soon(async () => {
      for (const one of [id, next]) expect((await stateAt(one, crm))?.status, one).to.equal('delivered')
    })
    expect(hostsCalled(next)).to.deep.equal(['app_shop', 'crm'])
  })

  it('do not wait for one that hangs', async () => {
    const crm = await add('crm')
    const slow = hangingEndpoint()
    harness.respondWith('crm', slow.answers)
    const ids: string[] = []
    for (let nth = 0; nth < 30; nth += 1) ids.push(await harness.emitEvent('app_shop'))
    await harness.soon(async () => {
      for (const id of ids) expect((await first(id)).status, id).to.equal('delivered')
    })
    expect(slow.waiting()).to.equal(16)
    expect(await stateAt(ids[29] as string, crm)).to.include({ status: 'pending', backlog: 'overflow' })
    slow.answerAll(200)
    harness.respondWith('crm', () => 200)
    await harness.soon(async () => {
      for (const id of ids) expect((await stateAt(id, crm))?.status, id).to.equal('delivered')
    })
  })

  it('get no event that happened before they were added, also if its message comes again', async () => {
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    const { created_at: at } = await first(id)
    const crm = await add('crm')
    await harness.emitEvent('app_shop', { event_id: id, at })
    await harness.passTime(6 * SECONDS)
    expect(await stateAt(id, crm)).to.equal(undefined)
    expect(hostsCalled(id)).to.not.include('crm')
  })

  it('get an event once, although its message comes again after one of them was deleted', async () => {
    const [crm, log] = [await add('crm'), await add('log')]
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    await harness.control.remove(await harness.endpoint(crm._id))
    await harness.passTime(6 * SECONDS)
    await harness.emitEvent('app_shop', { event_id: id, at: (await first(id)).created_at })
    await harness.settle()
    expect(hostsCalled(id)).to.have.members(['app_shop', 'crm', 'log'])
    expect((await stateAt(id, log))?.attempts).to.have.length(1)
  })

  it('get what a crash of the store kept from them, when the message comes again, and the others nothing twice', async () => {
    const crm = await add('crm')
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    const kept = eventDocId(id, { app_id: 'app_shop', endpoint_id: crm._id })
    await store.docs('events').remove({ _id: kept }, 1)
    await harness.emitEvent('app_shop', { event_id: id, at: (await first(id)).created_at })
    await harness.settle()
    expect(hostsCalled(id)).to.deep.equal(['app_shop', 'crm', 'crm'])
  })

  describe('once one is deleted', () => {
    it('leave what waits for it unsent, in retry and in its backlog', async () => {
      const crm = await add('crm')
      harness.respondWith('crm', () => 500)
      const inRetry = await harness.emitEvent('app_shop')
      await harness.soon(async () => expect((await stateAt(inRetry, crm))?.attempts).to.have.length(1))
      await harness.control.pause(crm._id)
      await harness.passTime(6 * SECONDS)
      const held = await harness.emitEvent('app_shop')
      await harness.soon(async () => expect((await stateAt(held, crm))?.status).to.equal('held'))
      const calls = harness.calls.length
      await harness.control.remove(await harness.endpoint(crm._id))
      await harness.soon(async () => {
        for (const id of [inRetry, held]) expect((await stateAt(id, crm))?.status, id).to.equal('unsent')
      })
      await harness.passTime(2 * MINUTES)
      expect((await store.docs('webhooks').get([crm._id])).size).to.equal(0)
      expect(harness.calls).to.have.length(calls)
    })

    it('give up what a process that did not know yet put into its backlog, although the first one to do so died', async () => {
      const crm = await add('crm')
      await harness.control.pause(crm._id)
      await harness.passTime(6 * SECONDS)
      const id = await harness.emitEvent('app_shop')
      const held = await harness.soon(async () => {
        const event = await stateAt(id, crm)
        expect(event?.status).to.equal('held')
        return event
      })
      await harness.control.remove(await harness.endpoint(crm._id))
      await harness.settle()
      const late = eventDocId(newId('evt', harness.clock.now()), { app_id: 'app_shop', endpoint_id: crm._id })
      await store.docs('events').insert([{ ...(held as EventDoc), _id: late }])
      await harness.crash()
      await harness.start()
      await harness.passTime(3 * MINUTES)
      expect((await store.docs('events').get([late])).get(late)?.status).to.equal('unsent')
      expect((await store.docs('webhooks').get([crm._id])).size).to.equal(0)
    })
  })

  it('are sent an event again, all of them or one, and the events of a time, counted once each', async () => {
    const crm = await add('crm')
    const since = harness.clock.now()
    const ids = [await harness.emitEvent('app_shop'), await harness.emitEvent('app_shop')]
    await harness.settle()
    const [id = ''] = ids
    const until = harness.clock.now() + 1
    await harness.control.replay(id, crm)
    await harness.soon(() => expect(hostsCalled(id)).to.deep.equal(['app_shop', 'crm', 'crm']))
    await harness.control.replay(id)
    await harness.soon(() => expect(hostsCalled(id)).to.have.length(5))
    const late = await add('late')
    await harness.control.replay(id, late)
    await harness.soon(() => expect(hostsCalled(id).at(-1)).to.equal('late'))
    expect(await harness.control.replayRange('app_shop', { since, until }, crm)).to.equal(2)
    await harness.soon(() => expect(ids.map(one => hostsCalled(one).length)).to.deep.equal([7, 3]))
    expect(await harness.control.replayRange('app_shop', { since, until })).to.equal(2)
  })
})
