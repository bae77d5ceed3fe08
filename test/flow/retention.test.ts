// How long data is kept: that of test mode for three days at most. What a shorter time erases is in erased-traces.test.ts.
import { expect } from 'chai'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const DAY_MS = 86_400_000

let blocks = 0

describeFlowOnce('data of test mode', flow => {
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
