// The sandbox's operations with the real OTP actor: messages of test keys, and simulated replies of a user.
import { expect } from 'chai'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { providerContext, providerId } from '../../../../services/domain/tenancy/documents.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { referenceIndex } from '../../../../services/domain/verifications/lookup-indexes.ts'
import type { OtpReport } from '../../../../services/domain/verifications/queue-messages.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const NUMBER = '+447911123456'
const REFERENCE = '23456789ABCDEFGH'

onEmbeddedStore('a message simulated in the sandbox', fresh => {
  let admin: TestAdmin
  let actor: TestActor
  let owner: { company: string; app: string }
  beforeEach(async () => {
    const store = await fresh()
    actor = await startOtpActor(store)
    admin = await startAdmin(store, { clock: actor.clock, broker: actor.broker })
    const whatsapp = { mode: 'link_inbound', business_number: '+15550001111' }
    owner = await createTenant(admin, { channels: { whatsapp }, routing: { default: ['whatsapp'] } })
  })
  afterEach(async () => {
    await closeAdmins()
    await actor.close()
  })

  const textOf = (action_url: string | null) => new URL(String(action_url)).searchParams.get('text') ?? ''
  const simulate = (from: string, text: string, app_id = owner.app) =>
    admin.ask('POST', '/sandbox/inbound', { app_id, from, text })
  const statusOf = async (otp_id: string) => (await admin.get(`/verifications/${otp_id}`)).body.status

  it('approves the verification it refers to', async () => {
    const { otp_id, action_url } = await actor.send({ ...owner, recipient: NUMBER })
    // With other words, and from the number as WhatsApp writes it.
    const answer = await simulate(NUMBER.slice(1), `ok!! (${textOf(action_url).toLowerCase()}) thx`)
    expect(answer.status).to.equal(200)
    expect(answer.body).to.deep.equal({ accepted: true })
    expect(await statusOf(otp_id)).to.equal('approved')
    expect((await admin.get('/audit')).body.items.map(({ action }: { action: string }) => action)).to.include(
      'sandbox.play_message',
    )
  })

  it('is looked up by recipient with a record in the audit log, one for ten minutes', async () => {
    const lookups = async (): Promise<{ after: unknown }[]> => {
      const { body } = await admin.get('/audit')
      expect(JSON.stringify(body)).not.to.include(NUMBER.slice(1))
      return body.items.filter(({ action }: { action: string }) => action === 'recipient.look_up')
    }
    const read = (query: string) => admin.get(`/sandbox/messages${query}`)
    await read('')
    expect(await lookups()).to.have.length(0)
    for (let nth = 0; nth < 3; nth += 1) await read(`?recipient=${encodeURIComponent(NUMBER)}`)
    const [record, ...more] = await lookups()
    expect(more).to.have.length(0)
    expect(record?.after).to.include({ list: 'sandbox' }).and.to.have.property('recipient')
    await read('?recipient=%2B447911123457')
    expect(await lookups()).to.have.length(2)
    await actor.clock.advance(10 * 60_000)
    await read(`?recipient=${encodeURIComponent(NUMBER)}`)
    expect(await lookups()).to.have.length(3)
  })

  it('without a number approves nothing, and is answered in the inbox with a request for it', async () => {
    const { otp_id, action_url } = await actor.send({ ...owner, recipient: NUMBER })
    const play = (body: object) => admin.ask('POST', '/sandbox/inbound', { app_id: owner.app, ...body })
    const from_user_id = 'GB.13491208655302741918'
    expect((await play({ from_user_id, text: textOf(action_url) })).status).to.equal(200)
    const { deliveries, status } = (await admin.get(`/verifications/${otp_id}`)).body
    expect(status).to.equal('pending')
    expect(deliveries).to.have.length(1)
    expect(deliveries[0]).to.include({ channel: 'whatsapp', asks_contact: true })
    await play({ from_user_id: 'GB.999', contact: NUMBER })
    expect(await statusOf(otp_id), 'of another user').to.equal('pending')
    await play({ from_user_id, contact: NUMBER })
    expect(await statusOf(otp_id)).to.equal('approved')
  })

  it('from another number is accepted and changes nothing', async () => {
    const { otp_id, action_url } = await actor.send({ ...owner, recipient: NUMBER })
    expect((await simulate('+447911123457', textOf(action_url))).body).to.deep.equal({ accepted: true })
    expect((await simulate(NUMBER, 'hello')).body).to.deep.equal({ accepted: true })
    const other = await createTenant(admin)
    await simulate(NUMBER, textOf(action_url), other.app)
    expect(await statusOf(otp_id)).to.equal('pending')
  })

  it('never changes a live verification', async () => {
    const _id = providerId(owner.app, 'main')
    const config = admin.keyring.seal('{}', providerContext(_id))
    const provider = { channel: 'whatsapp', type: 'sandbox', position: 0, config, rev: 0 } as const
    await admin.store.docs('providers').insert([{ _id, app_id: owner.app, name: 'main', ...provider }])
    const { otp_id, action_url } = await actor.send({ ...owner, recipient: NUMBER, mode: 'live' })
    expect((await simulate(NUMBER, textOf(action_url))).body).to.deep.equal({ accepted: true })
    expect(await statusOf(otp_id)).to.equal('pending')
  })
})

onEmbeddedStore('the report of a simulated message', fresh => {
  let admin: TestAdmin
  let owner: { company: string; app: string }
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    owner = await createTenant(admin)
  })
  afterEach(closeAdmins)

  it('has test mode and a sealed sender', async () => {
    await admin.ask('POST', '/sandbox/inbound', { app_id: owner.app, from: NUMBER, text: `my ref: ${REFERENCE}` })
    const reports = admin.published.map(({ body }) => body as Extract<OtpReport, { type: 'message.received' }>)
    expect(reports).to.have.length(1)
    const [{ sealed_from, ...report }] = reports as [(typeof reports)[number]]
    expect(report).to.deep.equal({
      type: 'message.received',
      app_id: owner.app,
      mode: 'test',
      references: [referenceIndex(admin.keyring, REFERENCE)],
      at: admin.clock.now(),
    })
    expect(admin.keyring.unseal(sealed_from, inFlight.from)).to.equal(NUMBER)
    const outputs = JSON.stringify([admin.published, (await admin.get('/audit')).body]) + admin.captured.output()
    expect(outputs).not.to.contain(NUMBER).and.not.contain(REFERENCE)
  })

  it('is published before the message is accepted', async () => {
    const broker = { publish: () => Promise.reject(new Unavailable('down')) }
    const adminWithoutBroker = await startAdmin(admin.store, { broker })
    const refused = await adminWithoutBroker.ask('POST', '/sandbox/inbound', {
      app_id: owner.app,
      from: NUMBER,
      text: 'hi',
    })
    expect(refused.body).to.include({ type: 'ServiceUnavailableError', status: 503 })
  })
})
