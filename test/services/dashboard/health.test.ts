import { expect } from 'chai'
import { newId } from '../../../infra/ids.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { closeAdmins, startAdmin } from '../../support/admin-api.ts'
import { createTenant, newOtpDocument } from '../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('the health of an app', fresh => {
  afterEach(closeAdmins)

  it("names a stopped channel for which a message with the caller's own code waits, behind any number of verifications", async () => {
    const depth = async (queue: string) => {
      const consumers = queue === 'otp.calls' ? 1 : 0
      return { ready: 1, oldestMs: null, consumers, dead: 0, brokerName: null }
    }
    const admin = await startAdmin(await fresh(), { broker: { depth } })
    await createTenant(admin)
    const causes = async () => (await admin.get('/apps/app_shop/health')).body.causes
    const arrived = (doc: OtpDoc): OtpDoc => {
      const deliveries = doc.context.deliveries.map(delivery => ({ ...delivery, status: 'delivered' as const }))
      return { ...doc, context: { ...doc.context, deliveries } }
    }
    const verifications = Array.from({ length: 200 }, () => arrived(newOtpDocument(admin)))
    await admin.store.docs('otps').insert(verifications)
    expect(await causes()).to.deep.equal([])

    await admin.clock.advance(1)
    const waiting = newOtpDocument(admin, { otp_id: newId('msg', admin.clock.now()) })
    await admin.store.docs('otps').insert([waiting])
    const nothing = { provider: null, reason: null, since: null }
    expect(await causes()).to.deep.equal([{ cause: 'channel_stopped', channel: 'sms', ...nothing }])
  })
})
