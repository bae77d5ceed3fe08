import { expect } from 'chai'
import { attemptId } from '../../../../services/channel/provider-attempts.ts'
import type { AttemptDoc, OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../../../services/domain/verifications/message-content.ts'
import type { EventDoc } from '../../../../services/domain/webhooks/documents.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const NUMBER = '+447911123456'

onEmbeddedStore('verifications for an operator', fresh => {
  let admin: TestAdmin
  let actor: TestActor
  let owner: { company: string; app: string }
  beforeEach(async () => {
    const store = await fresh()
    actor = await startOtpActor(store)
    admin = await startAdmin(store, { clock: actor.clock })
    owner = await createTenant(admin)
  })
  afterEach(async () => {
    await closeAdmins()
    await actor.close()
  })

  const ids = async (path: string): Promise<string[]> =>
    (await admin.get(path)).body.items.map(({ otp_id }: { otp_id: string }) => otp_id)

  it('are shown with their state and a masked recipient', async () => {
    const { otp_id } = await actor.send({ ...owner, recipient: NUMBER })
    const { status, body } = await admin.get(`/verifications/${otp_id}`)
    expect(status).to.equal(200)
    const { deliveries, timeline, ...rest } = body
    expect(rest).to.deep.include({
      otp_id,
      status: 'pending',
      channel: 'sms',
      masked_recipient: '+44****56',
      created_at: '2030-01-01T00:00:00.000Z',
      expires_at: '2030-01-01T00:10:00.000Z',
      resend_at: '2030-01-01T00:00:30.000Z',
      company_id: owner.company,
      app_id: owner.app,
      mode: 'test',
      started_by: { key_id: 'key_server', kind: 'server' },
      order: ['sms', 'whatsapp', 'telegram', 'email'],
      cost_micros: 0,
    })
    expect(deliveries).to.have.length(1)
    expect(deliveries[0]).to.include({ channel: 'sms', generation: 1, status: 'queued' })
    expect(timeline).to.have.length(2)
    expect(JSON.stringify(body)).not.to.contain(NUMBER)
    // Members that the document does not name would fail here.
    const internal = { 'context.deliveries.0.charge': 'kept', 'context.deliveries.0.vendor_code': '1' }
    await admin.store.docs('otps').modify({ _id: otp_id }, { $set: internal as object })
    expect((await admin.get(`/verifications/${otp_id}`)).body.deliveries[0]).to.include({ charge: 'kept' })
    await actor.clock.advance(600_000)
    const expired = (await admin.get(`/verifications/${otp_id}`)).body
    expect(expired, 'before the sweeper has expired it').to.include({ status: 'expired', resend_at: null })
  })

  it('have a timeline of deliveries, provider calls and webhook events, in order', async () => {
    const { otp_id } = await actor.send({ ...owner, recipient: NUMBER })
    const [{ delivery_id }] = (await admin.get(`/verifications/${otp_id}`)).body.deliveries
    const now = actor.clock.now()
    const purge_at = new Date(now + 1e10)
    const attempt = (provider: string, round: number, at: number, result: AttemptDoc['result']): AttemptDoc => ({
      _id: attemptId(delivery_id, provider, round),
      otp_id,
      app_id: owner.app,
      delivery_id,
      channel: 'sms',
      provider,
      round,
      at: now + at,
      result,
      reference: result === 'accepted' ? 'SM1' : null,
      purge_at,
      rev: 1,
    })
    const said = { http_status: 503, vendor_code: '20500', vendor_text: 'Busy', ms: 12 }
    // As where the vendor said nothing.
    const nothing = { http_status: null, vendor_code: null, vendor_text: null, ms: null }
    await admin.store
      .docs('attempts')
      .insert([
        attempt('b', 1, 20, 'unknown'),
        { ...attempt('a', 1, 10, 'failed'), ...said },
        attempt('', 1, 30, null),
        attempt('a', 2, 40, 'accepted'),
      ])
    const call = { round: 1, attempt: 1, at: now + 60, ms: 7, status: 200, error: null, sealed_response: null }
    const event = (_id: string, app_id: string, otp: string): EventDoc => ({
      _id,
      app_id,
      company_id: owner.company,
      mode: 'test',
      type: 'delivery.delivered',
      payload: { otp_id: otp },
      created_at: now + 50,
      purge_at,
      rev: 0,
      status: 'delivered',
      partition: 0,
      round: 1,
      tries: 1,
      attempts: [call],
    })
    const [own, other, foreign] = [
      event('evt_1', owner.app, otp_id),
      event('evt_2', owner.app, 'otp_other'),
      event('evt_3', 'app_o', otp_id),
    ]
    await admin.store.docs('events').insert([own, other, foreign])
    const { timeline } = (await admin.get(`/verifications/${otp_id}`)).body
    const at = (ms: number) => new Date(now + ms).toISOString()
    const called = { happened: 'provider.called', delivery_id, call: 1 }
    const sent = { type: 'delivery.delivered', event_id: 'evt_test_1' }
    expect(timeline).to.deep.equal([
      { at: at(0), happened: 'otp.started', by: { key_id: 'key_server', kind: 'server' } },
      { at: at(0), happened: 'delivery.queued', delivery_id, channel: 'sms', generation: 1 },
      { ...called, ...said, at: at(10), provider: 'a', round: 1, result: 'failed', reference: null },
      { ...called, ...nothing, at: at(20), provider: 'b', round: 1, result: 'unknown', reference: null },
      { at: at(30), happened: 'providers.exhausted', delivery_id, round: 1 },
      { ...called, ...nothing, at: at(40), provider: 'a', round: 2, result: 'accepted', reference: 'SM1' },
      { ...sent, at: at(50), happened: 'event.recorded', status: 'delivered' },
      { ...sent, at: at(60), happened: 'event.sent', round: 1, attempt: 1, status: 200, error: null, ms: 7 },
    ])
    await actor.clock.advance(600_000)
    expect((await admin.get(`/verifications/${otp_id}`)).body.timeline.at(-1)).to.deep.equal({
      at: at(600_000),
      happened: 'otp.expired',
    })
  })

  it('tell in their timeline who entered the code and who exchanged the token', async () => {
    const { otp_id } = await actor.send({ ...owner, recipient: NUMBER })
    const { keyring, store } = admin
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id) as OtpDoc
    const app = { company_id: owner.company, app_id: owner.app, mode: 'test' } as const
    const device = { key_id: 'key_device', kind: 'publishable' } as const
    const sealed_code = keyring.seal(codeOf(keyring, doc.context), inFlight.code)
    await actor.clock.advance(1_000)
    const approved = await actor.ask({ type: 'otp.verify', by: { ...app, ...device }, otp_id, sealed_code })
    const sealed_token = approved.kind === 'verified' ? String(approved.sealed_token) : ''
    await actor.clock.advance(1_000)
    await actor.ask({ type: 'token.exchange', by: { ...app, key_id: 'key_server', kind: 'server' }, sealed_token })
    const { timeline } = (await admin.get(`/verifications/${otp_id}`)).body
    const isOwn = ({ happened }: { happened: string }) => /^(otp|token)\./.test(happened)
    expect(timeline.filter(isOwn).slice(1)).to.deep.equal([
      { at: '2030-01-01T00:00:01.000Z', happened: 'otp.approved', by: device, channel: 'sms' },
      { at: '2030-01-01T00:00:02.000Z', happened: 'token.exchanged', key_id: 'key_server' },
    ])
  })

  it('show the link of a WhatsApp link mode', async () => {
    const whatsapp = { mode: 'link_inbound', business_number: '+15550001111' }
    await admin.ask('PATCH', `/apps/${owner.app}`, {
      settings: { channels: { whatsapp }, routing: { default: ['whatsapp'] } },
    })
    const { otp_id, action_url } = await actor.send({ ...owner, recipient: NUMBER })
    expect((await admin.get(`/verifications/${otp_id}`)).body).to.include({ completion: 'inbound', action_url })
    expect(action_url).to.match(/^https:\/\/wa\.me\/15550001111\?text=/)
  })

  it('are found by any spelling of the recipient', async () => {
    const mail = (await actor.send({ ...owner, recipient: 'ann+shop@Example.COM' })).otp_id
    const phone = (await actor.send({ ...owner, recipient: NUMBER })).otp_id
    const magic = (await actor.send({ ...owner, recipient: '+15005550010' })).otp_id
    const found = (typed: string) => ids(`/apps/${owner.app}/verifications?recipient=${typed}`)
    expect(await found('ann+shop@EXAMPLE.com')).to.deep.equal([mail])
    expect(await found('Ann+Shop@example.com')).to.deep.equal([mail])
    expect(await found('ann%2Bshop@example.com')).to.deep.equal([mail])
    expect(await found(NUMBER)).to.deep.equal([phone])
    expect(await found('+15005550010')).to.deep.equal([magic])
    expect(await found('nobody@example.com')).to.deep.equal([])
    const spaced = `${NUMBER.slice(0, 3)} (${NUMBER.slice(3, 7)}) ${NUMBER.slice(7)}`
    for (const typed of [spaced, NUMBER.slice(1), `00${NUMBER.slice(1)}`, `${NUMBER.slice(0, 5)}-${NUMBER.slice(5)}`])
      expect(await found(encodeURIComponent(typed)), typed).to.deep.equal([phone])
    expect(await found('rubbish')).to.deep.equal([])
  })
})
