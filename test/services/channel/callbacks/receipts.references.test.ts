// Meta's id of a message contains the recipient's number, so only its hash is stored. A receipt with nothing but this id still finds its delivery.
// A receipt of a call whose outcome is unknown settles it, once.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { createMetrics } from '../../../../infra/metrics.ts'
import { createHandleCallback, type HandleCallbackDeps } from '../../../../services/channel/callbacks/receipts.ts'
import type { DeliveryJob } from '../../../../services/channel/provider.ts'
import { createProviderAttempts } from '../../../../services/channel/provider-attempts.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const NUMBER = '447911123456'
const WAMID = `wamid.${Buffer.from(`\x1c\x18\x0c${NUMBER}\x15\x02\x00\x11\x18\x12ABCDEF0123456789AB\x00`).toString('base64')}`

eachStore("a vendor's id of a message", fresh => {
  it('is stored without the number in it, and finds the delivery again', async () => {
    const store = await fresh()
    const [clock, attempts] = [testClock(), store.docs('attempts')]
    const attemptWriter = createProviderAttempts({ attempts, clock, soleProcess: false })
    const otp = { otp_id: 'otp_1', app_id: 'app_1' }
    const job = { otp, delivery: { delivery_id: 'dlv_1' }, purge_at: new Date(2 ** 42) } as unknown as DeliveryJob
    const started = await attemptWriter.start(job, { provider: 'meta', round: 1, call: 1 })
    await attemptWriter.finish(started, { result: 'accepted', details: { ms: 1 }, reference: WAMID })
    await attemptWriter.record(job, {
      provider: 'gate',
      round: 1,
      at: 0,
      result: 'accepted',
      details: { ms: 1 },
      reference: 'SM123',
    })

    const saved = await attempts.find({}, { sort: { _id: 1 }, limit: 10 })
    expect(saved.map(({ reference }) => reference?.slice(0, 6))).to.deep.equal(['SM123', 'wamid:'])
    const stored = saved.map(({ reference }) => reference ?? '').join(' ')
    expect(stored).to.not.include(WAMID)
    expect(Buffer.from(stored, 'base64').toString('latin1')).to.not.include(NUMBER)

    const published: unknown[] = []
    const handleCallback = createHandleCallback({
      attempts,
      clock,
      keyring: testKeyring(),
      log: createCapturedLog().log,
      metrics: createMetrics(),
      rounds: 4,
      broker: { publish: async (_, { body }) => void published.push(body) },
    })
    const trace = { request_id: 'vendor-1', traceparent: null }
    const receipt = { kind: 'receipt', delivery_id: null, status: 'delivered' } as const
    await handleCallback({ app_id: 'app_1', provider: 'meta', type: 'whatsapp_cloud', secrets: null, trace }, [
      { ...receipt, reference: WAMID },
    ])
    await handleCallback({ app_id: 'app_1', provider: 'gate', type: 'twilio', secrets: null, trace }, [
      { ...receipt, reference: 'SM123' },
    ])
    expect(published).to.have.length(2)
    for (const report of published) expect(report).to.include({ otp_id: 'otp_1', delivery_id: 'dlv_1' })
  })
})

eachStore('two receipts at once of a call whose outcome is unknown', fresh => {
  it('are in any order what the vendor says: it was sent, and then it failed', async () => {
    const store = await fresh()
    const [clock, attempts] = [testClock(), store.docs('attempts')]
    const attemptWriter = createProviderAttempts({ attempts, clock, soleProcess: false })
    const otp = { otp_id: 'otp_1', app_id: 'app_1' }
    const job = { otp, delivery: { delivery_id: 'dlv_1' }, purge_at: new Date(2 ** 42) } as unknown as DeliveryJob
    const started = await attemptWriter.start(job, { provider: 'main', round: 1, call: 1 })
    await attemptWriter.finish(started, { result: 'unknown', details: { ms: 1 }, reference: null })

    const published: unknown[] = []
    const handlerOn = (docs: HandleCallbackDeps['attempts']) =>
      createHandleCallback({
        attempts: docs,
        clock,
        keyring: testKeyring(),
        log: createCapturedLog().log,
        metrics: createMetrics(),
        rounds: 4,
        broker: { publish: async (_, { body }) => void published.push((body as { status: string }).status) },
      })
    const trace = { request_id: 'vendor-1', traceparent: null }
    const source = { app_id: 'app_1', provider: 'main', type: 'twilio', secrets: null, trace } as const
    const receipt = { kind: 'receipt', delivery_id: 'dlv_1', reference: 'SM123' } as const
    const sent = () => handlerOn(attempts)(source, [{ ...receipt, status: 'sent' }])
    const overtaken: typeof attempts.modify = async (...args) => {
      await sent()
      return attempts.modify(...args)
    }
    await handlerOn({ ...attempts, modify: overtaken })(source, [{ ...receipt, status: 'failed' }])
    expect(published).to.deep.equal(['sent', 'failed'])
    const stored = (await attempts.get([started.id])).get(started.id)
    expect(stored).to.include({ result: 'accepted', reference: 'SM123' })
    expect(stored).to.not.have.property('unknown_at')
  })
})
