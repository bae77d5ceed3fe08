// Closing an app: its keys are refused, and what it began goes on. Closing a company: nothing is started for its apps
// either, and neither vendors nor endpoints are called. Receipts and refunds are recorded.
import { expect } from 'chai'
import { type Answer, createCaller, refusal } from '../support/api-caller.ts'
import { startCountersign } from '../support/countersign.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlow, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

const REFUSED = { type: 'HTTPException', status: 401, code: 'invalid_key' }

describeFlow('a closed app', (flow, engines) => {
  const setClosed = async (path: string, closed: boolean): Promise<void> => {
    const answer = await flow.admin('PATCH', path, { closed })
    expect(answer.status).to.equal(200)
    expect(answer.body.closed_at).to.be.a(closed ? 'string' : 'null')
    await flow.advance(CACHE_TTL_MS)
  }
  const same = ({ body }: Answer) => ({ ...body, request_id: '' })

  it('has every operation of its keys refused within five seconds, in the words for an unknown key', async () => {
    const { app, server, device } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    await setClosed(`/apps/${app}`, true)
    const answers = await Promise.all([
      server.send(freshNumber()),
      server.resend(otp_id),
      server.verify(otp_id, code),
      server.status(otp_id),
      server.cancel(otp_id),
      server.exchange('otp_vt_x'),
      device.send(freshNumber()),
    ])
    const unknown = same(await flow.caller('sk_test_never').send(freshNumber()))
    for (const answer of answers) {
      expect(refusal(answer)).to.deep.equal(REFUSED)
      expect(same(answer)).to.deep.equal(unknown)
    }
  })

  it('continues where it was when it is reopened', async () => {
    const { app, server } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    await setClosed(`/apps/${app}`, true)
    expect((await server.verify(otp_id, code)).status).to.equal(401)
    await setClosed(`/apps/${app}`, false)
    expect((await server.verify(otp_id, code)).body).to.include({ status: 'approved', matched: true })
    expect((await server.send(freshNumber())).status).to.equal(200)
  })

  it('has its receipts counted and its events stored, and operators read what it did', async () => {
    const { app, server } = await flow.createTenant()
    const to = freshNumber()
    const { body } = await server.send(to)
    await setClosed(`/apps/${app}`, true)
    // The sandbox's receipt follows the message within a second.
    await flow.eventually(async () =>
      expect((await flow.events(app)).map(({ type }) => type)).to.deep.equal(['delivery.delivered']),
    )
    const { body: timeline } = await flow.admin('GET', `/verifications/${body.otp_id}`)
    expect(timeline).to.include({ otp_id: body.otp_id, status: 'pending' })
    expect(await flow.inbox(to)).to.have.length(1)
    expect((await flow.admin('GET', `/apps/${app}`)).body.id).to.equal(app)
  })

  it('does not close the other apps of its company; a closed company closes all of them', async () => {
    const closed = await flow.createTenant()
    const other = await flow.createTenant({}, closed.company)
    const stranger = await flow.createTenant()
    await setClosed(`/apps/${closed.app}`, true)
    expect((await closed.server.send(freshNumber())).status).to.equal(401)
    expect((await other.server.send(freshNumber())).status).to.equal(200)
    await setClosed(`/companies/${closed.company}`, true)
    expect((await other.server.send(freshNumber())).status).to.equal(401)
    expect((await stranger.server.send(freshNumber())).status).to.equal(200)
    await setClosed(`/companies/${closed.company}`, false)
    expect((await other.server.send(freshNumber())).status).to.equal(200)
    expect((await closed.server.send(freshNumber())).status, 'the app itself stays closed').to.equal(401)
  })

  for (const what of ['app', 'company'] as const)
    it(`${what === 'app' ? 'takes' : 'leaves alone'} what users write while the ${what} is closed`, async () => {
      const settings = (mode: string) => ({
        channels: { whatsapp: { mode, business_number: '+15550001111' } },
        routing: { default: ['whatsapp'] },
      })
      const open = async (mode: string) => {
        const tenant = await flow.createTenant(settings(mode))
        const from = freshNumber()
        const { body } = await tenant.server.send(from)
        const text = new URL(body.action_url).searchParams.get('text') ?? ''
        const path = what === 'app' ? `/apps/${tenant.app}` : `/companies/${tenant.company}`
        const write = () => flow.admin('POST', '/sandbox/inbound', { app_id: tenant.app, from, text })
        return { ...tenant, otp_id: String(body.otp_id), from, path, write }
      }
      const [approves, fetches] = [await open('link_inbound'), await open('link_code')]
      for (const { path, otp_id, write } of [approves, fetches]) {
        await setClosed(path, true)
        expect((await write()).status).to.equal(200)
        if (what === 'app') continue
        await flow.eventually(() => {
          const lines = flow.countersign.log
            .lines()
            .filter(line => line.otp_id === otp_id && /^message/.test(`${line.msg}`))
          expect(lines.map(({ msg, outcome }) => [msg, outcome])).to.deep.equal([['message.ignored', 'company_closed']])
        })
        const { body } = await flow.admin('GET', `/verifications/${otp_id}`)
        expect(body).to.deep.include({ status: 'pending', deliveries: [] })
        await setClosed(path, false)
        await write()
      }
      await flow.eventually(async () =>
        expect((await flow.admin('GET', `/verifications/${approves.otp_id}`)).body.status).to.equal('approved'),
      )
      expect(await flow.waitForCode(fetches.from)).to.match(/^\d{6}$/)
    })

  if (engines === 'real')
    it('is refused within five seconds by a process that did not close it', async () => {
      const { app, server } = await flow.createTenant()
      const { site, config } = flow.countersign
      const { secrets } = flow.countersign
      const env = {
        CHANNEL_BACKOFF: '200',
        WEBHOOK_BACKOFF: '200',
        DATA_KEYS: secrets.data.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(),
      }
      expect(config.roles).to.include('edge')
      const edge = await startCountersign({ engines, site, env, roles: ['edge'], clock: flow.clock })
      try {
        const elsewhere = createCaller(edge.url, server.key)
        expect((await elsewhere.send(freshNumber())).status).to.equal(200)
        await setClosed(`/apps/${app}`, true)
        expect((await elsewhere.send(freshNumber())).status).to.equal(401)
      } finally {
        await edge.stop()
      }
    })
})

const SMS_PRICE = 40_000

describeLiveFlow('a closed company with a message under way', live => {
  const opened: HttpGateway[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  /** An app that falls back from SMS to Telegram, and has sent an SMS whose receipt is still to come. */
  async function sendSms(): Promise<LiveApp & { gateway: HttpGateway; otp_id: string }> {
    const callbackUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/sms`
    const gateway = await startHttpGateway({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
    opened.push(gateway)
    const providers = ['sms', 'telegram'].map(channel => ({
      name: channel,
      channel,
      type: 'http',
      config: { url: `${gateway.url}/${channel}`, secret: gateway.secret },
    }))
    const app = await live.createApp(providers, {
      routing: { default: ['sms', 'telegram'] },
      auto_fallback: true,
    })
    await live.admin('POST', `/companies/${companyOf(app)}/credit`, { micros: 10 * SMS_PRICE, note: 'a transfer' })
    const { body, text } = await app.server.send(freshNumber())
    expect(body.status, text).to.equal('pending')
    await live.waitForDeliveries(app.server, body.otp_id, 'sms sent')
    return { ...app, gateway, otp_id: body.otp_id }
  }
  const companyOf = ({ app }: LiveApp) => app.replace('app_', 'cmp_')
  const balanceOf = async (app: LiveApp) => (await live.admin('GET', `/companies/${companyOf(app)}`)).body.balance

  before(async () => {
    const prices = ['sms', 'telegram'].map(channel => ({ channel, country: '*', micros: SMS_PRICE }))
    expect((await live.admin('PUT', '/prices', { prices })).status).to.equal(200)
    await live.advance(CACHE_TTL_MS)
  })

  it('has its failure recorded and refunded, and falls back on no other channel', async () => {
    const shop = await sendSms()
    expect((await live.admin('PATCH', `/companies/${companyOf(shop)}`, { closed: true })).status).to.equal(200)
    await live.advance(CACHE_TTL_MS)
    const [sms] = shop.gateway.messages
    expect(sms && (await shop.gateway.report(sms, 'failed'))).to.equal(200)
    await live.eventually(async () => expect(await balanceOf(shop)).to.equal(10 * SMS_PRICE))
    await live.eventually(async () => expect(await live.deliveryEvents(shop.app)).to.deep.equal(['delivery.failed']))
    const { deliveries } = (await live.admin('GET', `/verifications/${shop.otp_id}`)).body
    expect(deliveries).to.have.length(1)
    expect(deliveries[0]).to.include({ channel: 'sms', status: 'failed' })
    expect(shop.gateway.requests).to.have.length(1)
    const { body } = await live.admin('GET', `/companies/${companyOf(shop)}/reconciliation`)
    expect(body.problems).to.deep.equal([])
  })

  it('has a late receipt recorded', async () => {
    const shop = await sendSms()
    await live.admin('PATCH', `/companies/${companyOf(shop)}`, { closed: true })
    await live.advance(CACHE_TTL_MS)
    const [sms] = shop.gateway.messages
    expect(sms && (await shop.gateway.report(sms, 'delivered'))).to.equal(200)
    await live.eventually(async () =>
      expect((await live.admin('GET', `/verifications/${shop.otp_id}`)).body.deliveries[0].status).to.equal(
        'delivered',
      ),
    )
    expect(await balanceOf(shop)).to.equal(9 * SMS_PRICE)
  })
})
