// A person says STOP, to a vendor's number or in WhatsApp, and START.
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { DAY_MS } from '../../infra/time.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { Answer } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber, type Tenant } from '../support/flow.ts'
import { describeLiveFlowOnce, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { rawDocuments } from '../support/raw-documents.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'
import { startTwilio, type Twilio, twilioError, twilioSignature } from '../support/vendors/twilio.ts'
import type { VendorCallback } from '../support/vendors/vendor.ts'

const SHOP_NUMBER = '+15550001111'
const SMS_FIRST = { routing: { default: ['sms', 'whatsapp'] }, resend_cooldown_seconds: [0] }

let companies = 0
let messages = 0

describeLiveFlowOnce('STOP', live => {
  let twilio: Twilio
  before(async () => {
    twilio = await startTwilio(live.vendorOptions)
  })
  after(() => twilio.close())

  const byTwilio = (from = SHOP_NUMBER): object => {
    const { account_sid, auth_token, url: base_url } = twilio
    return { name: 'vendor', channel: 'sms', type: 'twilio', config: { account_sid, auth_token, base_url, from } }
  }
  /** Apps of one company, each with one provider and a key of live mode. */
  async function createCompany(...providers: object[]): Promise<LiveApp[]> {
    const { data, code } = live.countersign.secrets
    const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
    companies += 1
    const apps = providers.map((provider, nth) => ({
      id: `app_stop${companies}x${nth}`,
      name: 'Shop',
      settings: SMS_FIRST,
      providers: [provider],
      keys: [{ id: `key_stop${companies}x${nth}`, key: `sk_live_0123456789abcdefstop${companies}x${nth}` }],
    }))
    const file = JSON.stringify({ companies: [{ id: `cmp_stop${companies}`, name: 'Acme', apps }] })
    await applyBootstrap(readBootstrap(file), { store: live.countersign.engines.store, keyring, clock: live.clock })
    return apps.map(({ id, keys: [key] }) => ({ app: id, server: live.caller(key?.key ?? '') }))
  }
  async function createShop(): Promise<LiveApp> {
    return (await createCompany(byTwilio()))[0] ?? expect.fail('no app')
  }

  /** A message of a person to the shop's number, as Twilio brings it. */
  const toTwilio = (app: string, from: string, text: string, more: object = {}): VendorCallback => {
    messages += 1
    const url = `${PUBLIC_URL}/callbacks/${app}/vendor`
    const sid = `SM${String(messages).padStart(32, '0')}`
    const fields = { MessageSid: sid, AccountSid: twilio.account_sid, From: from, To: SHOP_NUMBER, Body: text, ...more }
    return {
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
        'x-twilio-signature': twilioSignature(twilio.auth_token, url, fields),
      },
      body: new URLSearchParams(fields).toString(),
    }
  }
  const rulesOf = async (app: string, query = ''): Promise<Answer['body']> =>
    (await live.admin('GET', `/apps/${app}/recipients${query}`)).body.items
  const waitForRules = (app: string, count: number): Promise<Answer['body']> =>
    live.eventually(async () => {
      const rules = await rulesOf(app)
      expect(rules).to.have.length(count)
      return rules
    })
  /** What was done in a company about recipients, by the persons themselves or by others. */
  const auditedOf = async (company: number, byRecipient: boolean): Promise<string[]> => {
    const { items } = (await live.admin('GET', `/audit?company_id=cmp_stop${company}&limit=100`)).body
    const records = items as { who: string; action: string }[]
    return records
      .filter(({ who, action }) => (who === 'recipient') === byRecipient && action !== 'recipient.look_up')
      .map(({ action }) => action)
  }
  const blocked = ({ status, body }: Answer): unknown => [status, body.type]
  const BLOCKED = [403, 'RecipientBlockedError']

  it('by a text message stops messages to this number until START', async () => {
    const { app, server } = await createShop()
    const [to, other] = [freshNumber(), freshNumber()]
    expect((await server.send(to)).status).to.equal(200)

    const stop = toTwilio(app, to, 'Stop')
    expect(await twilio.call(stop)).to.equal(200)
    const [rule] = await waitForRules(app, 1)
    expect(rule).to.include({ rule: 'blocked', by: 'recipient', channel: 'sms', mode: 'live', told_by: 'message' })
    expect(rule).to.include({ provider: 'vendor', masked_recipient: `+1****${to.slice(-2)}` })
    const refused = await server.send(to)
    expect(blocked(refused)).to.deep.equal(BLOCKED)
    expect(refused.body.channels[0]).to.deep.equal({ channel: 'sms', reason: 'stopped' })
    expect((await server.send(other)).status, 'of another number').to.equal(200)

    expect(await twilio.call(toTwilio(app, to, 'START'))).to.equal(200)
    await waitForRules(app, 0)
    // Vendors repeat a callback whose answer they did not get.
    expect(await twilio.call(stop)).to.equal(200)
    expect(await twilio.call(toTwilio(app, other, 'hello'))).to.equal(200)
    expect(await twilio.call(toTwilio(app, other, 'QUIT'))).to.equal(200)
    expect((await waitForRules(app, 1))[0].masked_recipient).to.equal(`+1****${other.slice(-2)}`)
    expect((await server.send(to)).status, 'after START').to.equal(200)

    expect(await auditedOf(companies, true)).to.have.members(['recipient.stop', 'recipient.start', 'recipient.stop'])
  })

  it('holds for every app of the company that sends from the same number, and for no other', async () => {
    const [first, same, otherNumber] = await createCompany(byTwilio(), byTwilio(), byTwilio('+15550009999'))
    const stranger = await createShop()
    const to = freshNumber()
    // A word of the messaging service's own, which Twilio names.
    await twilio.call(toTwilio(first?.app ?? '', to, 'Parar', { OptOutType: 'STOP' }))
    await waitForRules(first?.app ?? '', 1)
    await waitForRules(same?.app ?? '', 1)
    expect(blocked((await same?.server.send(to)) as Answer)).to.deep.equal(BLOCKED)
    expect((await otherNumber?.server.send(to))?.status).to.equal(200)
    expect((await stranger.server.send(to)).status).to.equal(200)
  })

  it('counts the same when a vendor handles it and refuses the message', async () => {
    const { app, server } = await createShop()
    const to = freshNumber()
    const refusal = twilioError(400, 21610, 'Attempt to send to unsubscribed recipient')
    twilio.next({ fault: { kind: 'answers', answer: refusal } })
    const { otp_id } = (await server.send(to)).body
    await live.waitForDeliveries(server, otp_id, 'sms failed')
    expect((await server.status(otp_id)).body.deliveries[0].reason).to.equal('recipient_unreachable')
    expect((await waitForRules(app, 1))[0]).to.include({ channel: 'sms', told_by: 'vendor', provider: 'vendor' })
    expect(blocked(await server.send(to))).to.deep.equal(BLOCKED)
    const resend = await server.resend(otp_id)
    expect([resend.status, resend.body.cause]).to.deep.equal([409, 'no_usable_channel'])
    const named = await server.resend(otp_id, 'sms')
    expect([named.status, named.body.cause]).to.deep.equal([409, 'channel_stopped_by_recipient'])
    await twilio.call(toTwilio(app, to, 'UNSTOP'))
    await waitForRules(app, 0)
    expect((await server.send(to)).status).to.equal(200)
  })

  it('can be removed by an operator, and a repeated STOP of before does not bring it back', async () => {
    const { app, server } = await createShop()
    const to = freshNumber()
    const stop = toTwilio(app, to, 'STOP')
    await twilio.call(stop)
    const [rule] = await waitForRules(app, 1)
    expect(await rulesOf(app, `?recipient=${encodeURIComponent(to)}`)).to.deep.equal([rule])
    const remove = async (id: string) => (await live.admin('DELETE', `/recipients/${id}`)).status
    expect([await remove(rule.id), await remove(rule.id), await remove('rcp_none')]).to.deep.equal([204, 204, 404])
    const lifted = await getOne(live.countersign.engines.store.docs('recipient_rules'), rule.id)
    expect(lifted?.purge_at?.getTime(), 'it knows the STOP').to.be.above(live.clock.now() + DAY_MS)
    expect(await twilio.call(stop)).to.equal(200)
    expect(await twilio.call(toTwilio(app, freshNumber(), 'STOP'))).to.equal(200)
    await waitForRules(app, 1)
    expect((await server.send(to)).status).to.equal(200)
    expect(await auditedOf(companies, false)).to.deep.equal(['recipient.allow'])
  })

  it('outlives the erasure of the person, without saying whom it is about', async () => {
    const { app, server } = await createShop()
    const to = freshNumber()
    await server.send(to)
    await twilio.call(toTwilio(app, to, 'STOP'))
    const [rule] = await waitForRules(app, 1)
    const { body } = await live.admin('POST', `/apps/${app}/erase`, { recipient: to })
    expect(body).to.include({ rules: 1 })
    const [after] = await rulesOf(app)
    expect(after).to.deep.equal({ ...rule, masked_recipient: null })
    const all = await rawDocuments(live.countersign.engines.store, 'recipient_rules')
    const stored = all.filter(text => text.includes(rule.id)).map(text => JSON.parse(text))
    expect(stored).to.have.length(1)
    expect(stored[0]).to.include({ sealed_recipient: null, masked: null })
    expect(blocked(await server.send(to))).to.deep.equal(BLOCKED)
    await twilio.call(toTwilio(app, to, 'START'))
    await waitForRules(app, 0)
    expect((await server.send(to)).status).to.equal(200)
  })
})

describeFlowOnce('STOP in WhatsApp', flow => {
  const settings = {
    channels: { whatsapp: { mode: 'link_inbound', business_number: '+15550001111' } },
    routing: { default: ['whatsapp', 'sms'] },
    resend_cooldown_seconds: [0],
  }
  const write = async ({ app }: Pick<Tenant, 'app'>, from: string, text: string): Promise<void> => {
    expect((await flow.admin('POST', '/sandbox/inbound', { app_id: app, from, text })).status).to.equal(200)
  }
  const waitForRules = (app: string, count: number): Promise<unknown> =>
    flow.eventually(async () =>
      expect((await flow.admin('GET', `/apps/${app}/recipients`)).body.items).to.have.length(count),
    )

  it('approves nothing, and the next message goes by another channel', async () => {
    const shop = await flow.createTenant(settings)
    const { server, app } = shop
    const to = freshNumber()
    const { body } = await server.send(to)
    expect(body).to.include({ channel: 'whatsapp', completion: 'inbound' })
    await write(shop, to, 'STOP')
    await waitForRules(app, 1)
    expect((await server.status(body.otp_id)).body.status).to.equal('pending')

    const route = (await flow.admin('POST', `/apps/${app}/route`, { recipient: to, mode: 'test' })).body
    expect(route.channel).to.equal('sms')
    expect(route.channels[1]).to.include({ channel: 'whatsapp', usable: false, obstacle: 'stopped' })
    const next = (await server.send(to)).body
    expect(next.channel).to.equal('sms')
    expect((await server.verify(next.otp_id, await flow.waitForCode(to))).body.matched).to.equal(true)

    await write(shop, to, 'start')
    await waitForRules(app, 0)
    expect((await server.send(to)).body.channel).to.equal('whatsapp')
  })

  it('on every channel is not told to a device: its send is accepted, and nothing is sent', async () => {
    const shop = await flow.createTenant({
      ...settings,
      routing: { default: ['whatsapp'] },
      channels: { whatsapp: { mode: 'template' } },
    })
    const { device, server, app } = shop
    const to = freshNumber()
    await write(shop, to, 'STOP')
    await waitForRules(app, 1)
    expect((await server.send(to)).body.type).to.equal('RecipientBlockedError')
    const { status, body } = await device.send(to, { forwarded: '81.2.69.142' })
    expect([status, body.channel, body.status]).to.deep.equal([200, 'whatsapp', 'pending'])
    await flow.eventually(async () => {
      const { deliveries } = (await flow.admin('GET', `/verifications/${body.otp_id}`)).body
      expect(
        deliveries.map(({ status, reason }: { status: string; reason: string }) => [status, reason]),
      ).to.deep.equal([['failed', 'recipient_unreachable']])
    })
    await flow.advance(CACHE_TTL_MS)
    expect((await device.resend(body.otp_id)).status, 'and so is its resend').to.equal(200)
    expect(await flow.inbox(to)).to.deep.equal([])
  })
})
