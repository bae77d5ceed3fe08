// GET /otp/{otp_id}: which keys see a verification, and which of its members.
import { expect } from 'chai'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { atRest } from '../../../services/domain/verifications/encryption-context.ts'
import { KEYS, OTP_ID, startTestEdge, type TestEdge } from '../../support/edge.ts'
import { issued, play, reported, type StartOptions, T0 } from '../../support/otp.ts'

const DELIVERY = 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd'

describe('the status of a verification', () => {
  let edge: TestEdge
  beforeEach(async () => {
    edge = await startTestEdge()
  })
  afterEach(() => edge.close())

  const start = (more: StartOptions = {}): SavedOtp =>
    issued({ otp_id: OTP_ID, app_id: 'app_shop', company_id: 'cmp_acme', mode: 'test', delivery_id: DELIVERY, ...more })

  const store = (saved: SavedOtp): void => {
    const { otp_id, app_id, company_id, mode } = saved.context
    const doc: OtpDoc = {
      ...saved,
      _id: otp_id,
      app_id,
      company_id,
      mode,
      rev: 1,
      partition: 0,
      recipient: 'index',
      created_at: T0,
      outbox: [],
      outbox_at: null,
      first: verificationView(saved, T0),
      purge_at: new Date(T0),
    }
    edge.docs.set(otp_id, doc)
  }

  const read = async (key = KEYS.serverTest): Promise<Record<string, unknown>> => {
    const response = await edge.get(`/otp/${OTP_ID}`, { key })
    expect(response.status).to.equal(200)
    expect(response.headers.get('cache-control')).to.equal('no-store')
    return (await response.json()) as Record<string, unknown>
  }

  it('says to a server key why a delivery failed, and nothing of the provider or the vendor', async () => {
    const said = { provider: 'main', vendor_code: '30005', vendor_text: 'Unknown handset' }
    store(play(start(), reported('failed', { reason: 'recipient_unreachable', ...said })).saved)
    const [delivery] = (await read()).deliveries as object[]
    expect(delivery).to.include({ status: 'failed', reason: 'recipient_unreachable' })
    expect(delivery).to.have.all.keys('delivery_id', 'channel', 'status', 'reason', 'created_at', 'updated_at')
  })

  it('has every member for a server key, with times in UTC, and no deliveries for a publishable key', async () => {
    store(start())
    expect(await read()).to.deep.equal({
      otp_id: OTP_ID,
      status: 'pending',
      channel: 'sms',
      masked_recipient: '+44****56',
      action_url: null,
      completion: 'code',
      created_at: '2030-01-01T00:00:00.000Z',
      expires_at: '2030-01-01T00:10:00.000Z',
      verified_at: null,
      attempts_left: 5,
      resend_at: '2030-01-01T00:00:30.000Z',
      deliveries: [
        {
          delivery_id: DELIVERY,
          channel: 'sms',
          status: 'queued',
          created_at: '2030-01-01T00:00:00.000Z',
          updated_at: '2030-01-01T00:00:00.000Z',
        },
      ],
    })
    expect(edge.calls).to.deep.equal([])
    store(start())
    expect(await read(KEYS.deviceTest))
      .to.include({ status: 'pending' })
      .and.not.to.have.property('deliveries')
  })

  it('has the link that the user has to open', async () => {
    const url = 'https://wa.me/15550001111?text=hello'
    const link = { sealed_url: edge.keyring.seal(url, atRest.link(OTP_ID)), reference: 'ref' }
    store(start({ order: ['whatsapp'], whatsapp: 'link_inbound', link }))
    expect(await read()).to.include({ action_url: url, completion: 'inbound', channel: 'whatsapp' })
  })
})
