// DATA_KEYS rotate under traffic: a process gets both keys, and the new key alone once the admin API reports that the rotation is done.
// Verifications that began under the old key finish under the new one, limits keep their counts, and idempotency keys stay bound.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { type Flow, freshNumber, startFlow, type Tenant, wrongCode } from '../support/flow.ts'
import { collectionsContaining } from '../support/raw-documents.ts'
import { onEachEngineSet } from '../support/site.ts'

const [OLD, NEW] = ['old', 'new'].map((id, at) => `${id}:${Buffer.alloc(32, at + 1).toString('base64')}`)

const LIMITS = {
  recipient: [{ max: 3, seconds: 86_400 }],
  client_ip: [{ max: 2, seconds: 86_400 }],
  recipient_verify: [{ max: 3, seconds: 86_400 }],
}
const LINKS = { channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } } }

const METADATA = { order: 'A-1042' }
const ACCOUNT = 'AC11111111111111111111111111111111'

/** Verifications, limits and configs from before the rotation. */
async function createEarlierState(flow: Flow) {
  const shop = await flow.createTenant({ limits: LIMITS, resend_cooldown_seconds: [0] })
  const chat = await flow.createTenant({ ...LINKS, routing: { default: ['whatsapp'] } })
  const limited = freshNumber()
  for (let nth = 0; nth < 3; nth += 1) expect((await shop.server.send(limited)).status).to.equal(200)
  for (let nth = 0; nth < 3; nth += 1) expect((await shop.device.send(limited)).status).to.equal(200)
  for (let nth = 0; nth < 2; nth += 1)
    expect((await shop.server.send(freshNumber(), { client_ip: '81.2.69.142' })).status).to.equal(200)
  for (let nth = 0; nth < 8; nth += 1)
    expect((await shop.server.send(freshNumber(), { client_ip: `2a01:4f8:c0c:1${nth % 4}::1` })).status).to.equal(200)
  const guessed = await flow.startVerification(shop.server)
  for (let nth = 0; nth < 2; nth += 1) await shop.server.verify(guessed.otp_id, wrongCode(guessed.code))
  const pending = await flow.startVerification(shop.server)
  const withMetadata = await shop.server.send(freshNumber(), { metadata: METADATA })
  const idempotency = `sign up ${freshNumber()}`
  const repeated = await shop.server.send(freshNumber(), { idempotency })
  expect(repeated.status).to.equal(200)
  const [to, deviceNumber] = [freshNumber(), freshNumber()]
  const { body } = await chat.server.send(to)
  const text = new URL(body.action_url).searchParams.get('text') ?? ''
  const device = await shop.device.send(deviceNumber)
  const verified = await shop.device.verify(device.body.otp_id, await flow.waitForCode(deviceNumber))
  const config = { account_sid: ACCOUNT, auth_token: 'top', from: '+15550001111' }
  const provider = { channel: 'sms', type: 'twilio', config }
  expect((await flow.admin('PUT', `/apps/${shop.app}/providers/gate`, provider)).status).to.be.oneOf([200, 201])
  return {
    shop,
    chat,
    limited,
    guessed,
    pending,
    withMetadata: withMetadata.body.otp_id as string,
    repeated: { idempotency, text: repeated.text },
    link: { otp_id: body.otp_id as string, to, text },
    proof: { token: verified.body.verification_token as string, to: deviceNumber },
  }
}

onEachEngineSet('a rotation of DATA_KEYS', engines => {
  let flow: Flow
  let earlier: Awaited<ReturnType<typeof createEarlierState>>

  const restart = async (dataKeys: string, lost = ''): Promise<void> => {
    const at = flow.clock.now()
    await flow.advanceUntil(flow.countersign.stop())
    flow = await startFlow({ engines, site: flow.countersign.site, env: { DATA_KEYS: dataKeys, LOST_DATA_KEYS: lost } })
    if (engines === 'embedded') await flow.advance(Math.max(0, at - flow.clock.now()))
  }
  const reconnect = ({ company, app, server, device }: Tenant): Tenant => ({
    company,
    app,
    server: flow.caller(server.key),
    device: flow.caller(device.key),
  })
  const rotation = async () => (await flow.admin('GET', '/privacy')).body

  before(async () => {
    flow = await startFlow({ engines, env: { DATA_KEYS: OLD ?? '' } })
    earlier = await createEarlierState(flow)
    expect(await rotation()).to.deep.equal({ data_keys: ['old'], rotation: null })
    const sealed = await collectionsContaining(flow.countersign.engines.store, 'v1.old.')
    expect(sealed).to.have.members(['providers', 'otps', 'claims', 'canaries'])
    await restart(`${NEW},${OLD}`)
  })
  after(() => flow.stop())

  const expectLimitsStillCount = async (shop: Tenant): Promise<void> => {
    for (const by of [shop.server, shop.device])
      expect((await by.send(earlier.limited)).body).to.include({ status: 429, scope: 'recipient' })
    // The last address is in a /64 of its own, but its /56 is full.
    for (const client_ip of ['81.2.69.142', '2a01:4f8:c0c:10::2', '2a01:4f8:c0c:1f::1'])
      expect((await shop.server.send(freshNumber(), { client_ip })).body).to.include({
        status: 429,
        scope: 'client_ip',
      })
  }

  const expectKeyStillBound = async (shop: Tenant): Promise<void> => {
    const { idempotency, text } = earlier.repeated
    expect((await shop.server.send(freshNumber(), { idempotency })).text).to.equal(text)
  }

  it('finishes under traffic, and leaves nothing sealed with the old key', async () => {
    const shop = reconnect(earlier.shop)
    await expectLimitsStillCount(shop)
    await expectKeyStillBound(shop)
    const verifications = Array.from({ length: 10 }, async () => {
      const { otp_id, code } = await flow.startVerification(shop.server)
      expect((await shop.server.resend(otp_id)).status).to.equal(200)
      expect((await shop.server.verify(otp_id, wrongCode(code))).body.matched).to.equal(false)
      expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
    })
    const traffic = Promise.all(verifications)
    await flow.eventually(async () => expect((await rotation()).rotation?.state).to.equal('done'))
    await traffic
    const { rotation: done } = await rotation()
    expect(done).to.include({ state: 'done', current: 'new', renewed: 0, unsealable: 0 })
    expect(done.renewed_in_all).to.be.at.least(10)
    expect(await collectionsContaining(flow.countersign.engines.store, 'v1.old.')).to.deep.equal([])
    await expectKeyStillBound(shop)
    expect(flow.countersign.log.output()).to.include('rotation.done')
  })

  it('keeps limits, idempotency keys, pending verifications, links and tokens working without the old key', async () => {
    await restart(NEW ?? '')
    const [shop, chat] = [reconnect(earlier.shop), reconnect(earlier.chat)]
    expect(await rotation()).to.have.nested.property('rotation.state', 'done')
    await expectLimitsStillCount(shop)
    await expectKeyStillBound(shop)

    const { pending, guessed, link, proof } = earlier
    expect((await shop.server.resend(pending.otp_id)).status).to.equal(200)
    expect((await shop.server.verify(pending.otp_id, pending.code)).body).to.include({ matched: true })
    const wrong = await shop.server.verify(guessed.otp_id, wrongCode(guessed.code))
    expect(wrong.body).to.include({ matched: false })
    const locked = await shop.server.verify(guessed.otp_id, guessed.code)
    expect(locked.body).to.include({ status: 429, scope: 'recipient_verify' })

    await flow.admin('POST', '/sandbox/inbound', { app_id: chat.app, from: link.to, text: link.text })
    const code = await flow.waitForCode(link.to)
    expect((await chat.server.verify(link.otp_id, code)).body).to.include({ matched: true })
    expect((await shop.server.exchange(proof.token)).body).to.include({ recipient: proof.to })
  })

  it('keeps verifications searchable by recipient and by metadata, and provider configs readable', async () => {
    const { pending, shop, withMetadata } = earlier
    const byMetadata = (await flow.admin('GET', `/apps/${shop.app}/verifications?metadata.order=A-1042`)).body
    expect(byMetadata.items.map((one: { otp_id: string }) => one.otp_id)).to.deep.equal([withMetadata])
    expect(byMetadata.items[0].metadata).to.deep.equal(METADATA)
    const query = `recipient=${encodeURIComponent(pending.to)}`
    const { items } = (await flow.admin('GET', `/apps/${shop.app}/verifications?${query}`)).body
    expect(items.map((one: { otp_id: string }) => one.otp_id)).to.deep.equal([pending.otp_id])
    expect((await flow.inbox(pending.to)).map(({ otp_id }) => otp_id)).to.include(pending.otp_id)
    const gate = (await flow.admin('GET', `/apps/${shop.app}/providers/gate`)).body
    expect(gate.config.account_sid).to.equal(ACCOUNT)
  })

  it('that loses every earlier key does not stop new sends, if the operator lists the lost keys', async () => {
    await restart(`third:${Buffer.alloc(32, 3).toString('base64')}`, 'new')
    const shop = reconnect(earlier.shop)
    const { otp_id, code } = await flow.startVerification(shop.server)
    expect((await shop.server.verify(otp_id, code)).body).to.include({ matched: true })
    expect((await shop.server.verify(earlier.guessed.otp_id, '000000')).status).to.equal(503)
    expect((await flow.admin('GET', `/apps/${shop.app}/providers/gate`)).body.config).to.equal(null)
    expect((await fetch(`${flow.countersign.url}/readyz`)).status).to.equal(200)
  })
})
