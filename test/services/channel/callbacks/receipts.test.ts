// Meta's id of a message contains the recipient's number, so only its hash is stored. A receipt with nothing but this
// id still finds its delivery. A receipt of a call whose outcome is unknown decides it, once.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { createMetrics } from '../../../../infra/metrics.ts'
import type { DeliveryStatus } from '../../../../machines/otp.ts'
import { createHandleCallback, type HandleCallbackDeps } from '../../../../services/channel/callbacks/receipts.ts'
import type { DeliveryJob } from '../../../../services/channel/provider.ts'
import { createProviderAttempts } from '../../../../services/channel/provider-attempts.ts'
import type { AttemptDoc, AttemptResult, OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const NUMBER = '447911123456'
const WAMID = `wamid.${Buffer.from(`\x1c\x18\x0c${NUMBER}\x15\x02\x00\x11\x18\x12ABCDEF0123456789AB\x00`).toString('base64')}`

eachStore('receipts', fresh => {
  const trace = { request_id: 'vendor-1', traceparent: null }
  const source = { app_id: 'app_1', provider: 'main', type: 'twilio', channel: 'sms', secrets: null, trace } as const
  const receipt = { kind: 'receipt', delivery_id: 'dlv_1', reference: 'SM123' } as const

  async function setUp(deliveryStatus: DeliveryStatus = 'queued') {
    const store = await fresh()
    const [clock, attempts] = [testClock(), store.docs('attempts')]
    const writer = createProviderAttempts({ attempts, clock, soleProcess: false })
    const otp = { otp_id: 'otp_1', app_id: 'app_1' }
    const job = { otp, delivery: { delivery_id: 'dlv_1' }, purge_at: new Date(2 ** 42) } as unknown as DeliveryJob
    const stored = { context: { deliveries: [{ delivery_id: 'dlv_1', status: deliveryStatus }] } } as unknown as OtpDoc
    const published: string[] = []
    const reports: object[] = []
    async function begin(provider: string, call: number) {
      await clock.advance(1)
      const started = await writer.start(job, { provider, round: 1, call })
      const end = (result: AttemptResult, vendor_text?: string, reference: string | null = null): Promise<void> =>
        writer.finish(started, { result, details: { ms: 1, ...(vendor_text && { vendor_text }) }, reference })
      return { id: started.id, end }
    }
    return {
      attempts,
      published,
      reports,
      begin,
      /** For a call that needs one write alone. */
      record: (provider: string, reference: string) =>
        writer.record(job, { provider, round: 1, at: 0, result: 'accepted', details: { ms: 1 }, reference }),
      /** Its id. */
      async call(provider: string, call: number, result: AttemptResult, vendor_text?: string): Promise<string> {
        const { id, end } = await begin(provider, call)
        await end(result, vendor_text)
        return id
      },
      attempt: async (id: string): Promise<AttemptDoc | undefined> => (await attempts.get([id])).get(id),
      handle: (docs: HandleCallbackDeps['attempts'] = attempts) =>
        createHandleCallback({
          attempts: docs,
          otps: { get: async () => new Map([['otp_1', stored]]) },
          clock,
          keyring: testKeyring(),
          log: createCapturedLog().log,
          metrics: createMetrics(),
          rounds: 4,
          broker: {
            async publish(_, { body }) {
              reports.push(body as object)
              published.push((body as { status: string }).status)
            },
          },
        }),
    }
  }

  it('find the delivery by the id of the message, which is stored without the number in it', async () => {
    const { attempts, begin, record, handle, reports } = await setUp()
    await (await begin('main', 1)).end('accepted', undefined, WAMID)
    await record('gate', 'SM123')
    const saved = await attempts.find({}, { sort: { _id: 1 }, limit: 10 })
    expect(saved.map(({ reference }) => reference?.slice(0, 6))).to.deep.equal(['SM123', 'wamid:'])
    const stored = saved.map(({ reference }) => reference ?? '').join(' ')
    expect(stored).to.not.include(WAMID)
    expect(Buffer.from(stored, 'base64').toString('latin1')).to.not.include(NUMBER)
    const byIdAlone = { ...receipt, delivery_id: null, status: 'delivered' } as const
    await handle()(source, [{ ...byIdAlone, reference: WAMID }])
    await handle()({ ...source, provider: 'gate' }, [byIdAlone])
    expect(reports).to.have.length(2)
    for (const report of reports) expect(report).to.include({ otp_id: 'otp_1', delivery_id: 'dlv_1' })
  })

  describe('of a call whose outcome is unknown', () => {
    it('are in any order what the vendor says: it was sent, and then it failed', async () => {
      const { attempts, attempt, call, handle, published } = await setUp()
      const id = await call('main', 1, 'unknown', 'it did not answer in time')
      const overtaken: typeof attempts.modify = async (...args) => {
        await handle()(source, [{ ...receipt, status: 'sent' }])
        return attempts.modify(...args)
      }
      await handle({ ...attempts, modify: overtaken })(source, [{ ...receipt, status: 'failed' }])
      expect(published).to.deep.equal(['sent', 'failed'])
      expect(await attempt(id)).to.include({ result: 'accepted', reference: 'SM123' })
      expect(await attempt(id)).to.not.have.any.keys('unknown_at', 'vendor_text')
    })

    it('are the failure of that call alone while the message is queued, also when they come twice or late', async () => {
      const { attempt, call, handle, published } = await setUp()
      const id = await call('main', 1, 'unknown', 'it did not answer in time')
      const failure = { reason: 'provider_failed', vendorCode: '30008', vendorText: null } as const
      for (const status of ['failed', 'sent', 'failed'] as const)
        await handle()(source, [{ ...receipt, status, failure }])
      expect(published).to.deep.equal([])
      expect(await attempt(id)).to.include({ result: 'failed', reference: 'SM123', vendor_code: '30008' })
      expect(await attempt(id)).to.not.have.any.keys('unknown_at', 'vendor_text')
      await handle()(source, [{ ...receipt, status: 'delivered' }])
      expect(published).to.deep.equal(['delivered'])
    })

    it('end the delivery where the channel no longer has the message, because another call was reported as sent', async () => {
      const { call, handle, published } = await setUp('sent')
      await call('first', 1, 'unknown')
      await call('main', 1, 'unknown')
      await handle()(source, [{ ...receipt, status: 'failed' }])
      expect(published).to.deep.equal(['failed'])
    })

    for (const reason of ['recipient_unreachable', 'superseded'] as const)
      it(`end the delivery where another provider would change nothing: ${reason}`, async () => {
        const { attempt, call, handle, published } = await setUp()
        const id = await call('main', 1, 'unknown')
        await handle()(source, [
          { ...receipt, status: 'failed', failure: { reason, vendorCode: null, vendorText: null } },
        ])
        expect(published).to.deep.equal(['failed'])
        // Should the channel look before the report is handled, it calls no other provider for a recipient who cannot be reached.
        expect((await attempt(id))?.result).to.equal(reason === 'recipient_unreachable' ? 'refused' : 'unknown')
      })

    it('are not undone by a time-out of the call, so that a later failure is that of the delivery', async () => {
      const { attempt, begin, handle, published } = await setUp()
      const { id, end } = await begin('main', 1)
      await handle()(source, [{ ...receipt, status: 'sent' }])
      await end('unknown')
      expect(await attempt(id)).to.include({ result: 'accepted', reference: 'SM123' })
      await handle()(source, [{ ...receipt, status: 'failed' }])
      expect(published).to.deep.equal(['sent', 'failed'])
    })

    it('are of the call without an answer, not of a later one that was answered with an error', async () => {
      const { attempt, call, handle, published } = await setUp()
      const [unanswered, refused] = [await call('main', 1, 'unknown'), await call('main', 2, 'failed')]
      await handle()(source, [{ ...receipt, status: 'sent' }])
      expect(published).to.deep.equal(['sent'])
      expect(await attempt(unanswered)).to.include({ result: 'accepted', reference: 'SM123' })
      expect(await attempt(refused)).to.include({ result: 'failed', reference: null })
    })
  })
})
