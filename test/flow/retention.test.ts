// An app shortens its retention time: within about a minute the sweeper erases what is older, without a request to erase.
import { expect } from 'chai'
import { ask } from '../support/api-caller.ts'
import { testClock } from '../support/clock.ts'
import { startCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { startFlow } from '../support/flow.ts'
import { collectionsContaining } from '../support/raw-documents.ts'
import { createRunningClock } from '../support/running-clock.ts'
import { onEachEngineSet } from '../support/site.ts'

const TWO_DAYS_MS = 2 * 86_400_000

onEachEngineSet('a shorter retention time', engines => {
  it('erases the older verifications of the app, and nothing else', async function () {
    this.timeout(120_000)
    const flow = await startFlow({ engines })
    const [shop, blog] = [await flow.createTenant(), await flow.createTenant()]
    const [old, kept] = [await flow.startVerification(shop.server), await flow.startVerification(blog.server)]
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
      expect(await status(old.otp_id)).to.equal(200)
      const patched = await admin('PATCH', `/apps/${shop.app}`, { settings: { retention_days: 1 } })
      expect(patched.status).to.equal(200)
      await eventually(async () => {
        await clock.advance(2_000)
        expect(await status(old.otp_id)).to.equal(404)
      }, 60_000)
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
