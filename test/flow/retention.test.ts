// How long data is kept. Test data is kept for three days at most. An app shortens its retention time: a day later the
// sweeper erases what is older, without a request to erase.
import { expect } from 'chai'
import { ask } from '../support/api-caller.ts'
import { testClock } from '../support/clock.ts'
import { startCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS, startFlow } from '../support/flow.ts'
import { collectionsContaining } from '../support/raw-documents.ts'
import { createRunningClock } from '../support/running-clock.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { onEachEngineSet } from '../support/site.ts'

const DAY_MS = 86_400_000
const TWO_DAYS_MS = 2 * DAY_MS

describeFlow('data of test mode', flow => {
  /** By collection, after how many days the documents of one verification are purged. */
  async function purgeDays(app_id: string, otp_id: string): Promise<Record<string, number[]>> {
    const { store } = flow.countersign.engines
    const { created_at } = (await store.docs('otps').get([otp_id])).get(otp_id) ?? { created_at: 0 }
    const all = { sort: { _id: 1 }, limit: 10_000 } as const
    const found = {
      otps: [...(await store.docs('otps').get([otp_id])).values()],
      attempts: (await store.docs('attempts').find({}, all)).filter(one => one.otp_id === otp_id),
      messages: (await store.docs('sandbox_messages').find({}, all)).filter(one => one.otp_id === otp_id),
      claims: (await store.docs('claims').find({}, all)).filter(one => one.otp_id === otp_id),
      events: (await store.docs('events').find({}, all)).filter(one => one.payload.otp_id === otp_id),
      decisions: (await store.docs('fraud_decisions').find({}, all)).filter(one => one.app_id === app_id),
    }
    const days = (purge_at: Date) => Math.round((purge_at.getTime() - created_at) / DAY_MS)
    return Object.fromEntries(Object.entries(found).map(([name, docs]) => [name, docs.map(one => days(one.purge_at))]))
  }

  /** Sends with a key of each mode to neighbouring numbers, until the fraud guard records a decision. */
  async function keptDays(mode: 'live' | 'test', retention_days: number): Promise<Record<string, number[]>> {
    const plenty = [{ max: 1_000, seconds: 60 }]
    const settings = { retention_days, idempotency_ttl_seconds: 604_800, limits: { app_without_client_ip: plenty } }
    const { app } = await flow.createTenant(settings)
    await flow.admin('PUT', `/apps/${app}/providers/box`, { channel: 'sms', type: 'sandbox', config: {} })
    const by = await flow.createKey(app, 'server', mode)
    await flow.advance(CACHE_TTL_MS)
    blocks += 1
    const numberOf = (nth: number) => `+4474009${blocks}${String(nth * 101).padStart(4, '0')}`
    for (let nth = 0; nth < 20; nth += 1) await by.send(numberOf(nth))
    await flow.advance(3 * 60_000)
    const { body } = await by.send(numberOf(50), { idempotency: `kept in ${mode} for ${retention_days}` })
    return flow.eventually(async () => {
      const kept = await purgeDays(app, body.otp_id)
      for (const [name, days] of Object.entries(kept)) expect(days, name).to.have.length(1)
      return kept
    })
  }

  it('is purged after three days, or earlier if the app says so, and that of live mode when the app says', async () => {
    const all = (days: number) => ({
      otps: [days],
      attempts: [days],
      messages: [days],
      claims: [Math.min(days, 7)],
      events: [days],
      decisions: [days],
    })
    expect(await keptDays('test', 30)).to.deep.equal(all(3))
    expect(await keptDays('test', 2)).to.deep.equal(all(2))
    expect(await keptDays('live', 30)).to.deep.equal(all(30))
  })
})

let blocks = 0

onEachEngineSet('a shorter retention time', engines => {
  it('is told of, and a day later erases the older verifications of the app, and nothing else', async () => {
    const flow = await startFlow({ engines })
    const [shop, blog] = [await flow.createTenant(), await flow.createTenant()]
    const [old, kept] = [await flow.startVerification(shop.server), await flow.startVerification(blog.server)]
    const patched = await flow.admin('PATCH', `/apps/${shop.app}`, { settings: { retention_days: 1 } })
    expect(patched.status).to.equal(200)
    expect(patched.body.settings.retention_days).to.equal(30)
    const inADay = Date.parse(patched.body.pending_retention.effective_at) - flow.clock.now()
    expect(inADay).to.be.within(DAY_MS - 60_000, DAY_MS)
    await flow.eventually(async () => {
      const { items } = (await flow.admin('GET', `/companies/${shop.company}/notices`)).body
      expect(items.map(({ type, app_id }: { type: string; app_id: string }) => [type, app_id])).to.deep.equal([
        ['ops.retention_shortened', shop.app],
      ])
    })
    await flow.advanceUntil(flow.countersign.stop())

    // Two days later. A clock that stands still would run every timer of them, so the process starts again with a later clock.
    const clock = engines === 'embedded' ? testClock(flow.clock.now() + TWO_DAYS_MS) : createRunningClock()
    if (engines === 'real') await clock.advance(TWO_DAYS_MS)
    const env = { CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200' }
    const later = await startCountersign({ engines, site: flow.countersign.site, clock, env })
    try {
      const token = later.secrets.adminTokens[0]?.token ?? ''
      const admin = (method: string, path: string, body?: object) =>
        ask(`${later.url}/admin/v1${path}`, { method, token, ...(body ? { body: JSON.stringify(body) } : {}) })
      const status = async (otp_id: string) => (await admin('GET', `/verifications/${otp_id}`)).status
      const { settings, pending_retention } = (await admin('GET', `/apps/${shop.app}`)).body
      expect([settings.retention_days, pending_retention]).to.deep.equal([1, null])
      await eventually(async () => {
        await clock.advance(2_000)
        expect(await status(old.otp_id)).to.equal(404)
      })
      const inbox = await admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(old.to)}`)
      expect(inbox.body).to.deep.equal([])
      expect(await collectionsContaining(later.engines.store, old.otp_id)).to.deep.equal(['events'])
      expect(await status(kept.otp_id)).to.equal(200)
      expect(later.log.output()).to.include('retention.erased')
    } finally {
      await later.stop()
      await later.site.wipe()
    }
  })
})
