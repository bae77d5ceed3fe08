// Closing an app: its keys are refused, and what it began goes on. Closing a company: nothing is started for its apps
// either, and neither vendors nor endpoints are called. Receipts and refunds are recorded.
import { expect } from 'chai'
import { type Answer, createCaller, refusal } from '../support/api-caller.ts'
import { startCountersign } from '../support/countersign.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlowOnce, PUBLIC_URL } from '../support/live-flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'
import { startHttpGateway } from '../support/vendors/http-gateway.ts'

const REFUSED = { type: 'HTTPException', status: 401, code: 'invalid_key' }

describeFlow('a closed app', (flow, engines) => {
  const itOnce = itOnceOf(engines)
  const setClosed = async (path: string, closed: boolean): Promise<void> => {
    const answer = await flow.admin('PATCH', path, { closed })
    expect(answer.status).to.equal(200)
    expect(answer.body.closed_at).to.be.a(closed ? 'string' : 'null')
    await flow.advance(CACHE_TTL_MS)
  }
  const same = ({ body }: Answer) => ({ ...body, request_id: '' })

  itOnce('has every operation refused in the words for an unknown key, until it is reopened', async () => {
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
    await setClosed(`/apps/${app}`, false)
    expect((await server.verify(otp_id, code)).body).to.include({ status: 'approved', matched: true })
  })

  itOnce('has its receipts counted and its events stored, and operators read what it did', async () => {
    const { app, server } = await flow.createTenant()
    const to = freshNumber()
    const { body } = await server.send(to)
    await setClosed(`/apps/${app}`, true)
    // The sandbox's receipt follows the message within a second.
    await flow.eventually(async () =>
      expect((await flow.events(app)).map(({ type }) => type)).to.deep.equal(['delivery.delivered']),
    )
    expect(await flow.inbox(to)).to.have.length(1)
    expect((await flow.admin('GET', `/verifications/${body.otp_id}`)).body).to.include({ status: 'pending' })
  })

  itOnce('does not close the other apps of its company; a closed company closes all of them', async () => {
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

  itOnce('has what its users write taken; that of a closed company is left alone', async () => {
    const open = async (mode: string) => {
      const tenant = await flow.createTenant({
        channels: { whatsapp: { mode, business_number: '+15550001111' } },
        routing: { default: ['whatsapp'] },
      })
      const from = freshNumber()
      const { body } = await tenant.server.send(from)
      const text = new URL(body.action_url).searchParams.get('text') ?? ''
      const write = async () => {
        const { status } = await flow.admin('POST', '/sandbox/inbound', { app_id: tenant.app, from, text })
        expect(status).to.equal(200)
      }
      return { ...tenant, otp_id: String(body.otp_id), from, write }
    }
    const [approves, fetches] = [await open('link_inbound'), await open('link_code')]
    const shown = async (otp_id: string) => (await flow.admin('GET', `/verifications/${otp_id}`)).body
    for (const { company, otp_id, write } of [approves, fetches]) {
      await setClosed(`/companies/${company}`, true)
      await write()
      await flow.eventually(() => {
        const lines = flow.countersign.log
          .lines()
          .filter(line => line.otp_id === otp_id && /^message/.test(`${line.msg}`))
        expect(lines.map(({ msg, outcome }) => [msg, outcome])).to.deep.equal([['message.ignored', 'company_closed']])
      })
      expect(await shown(otp_id)).to.deep.include({ status: 'pending', deliveries: [] })
      await setClosed(`/companies/${company}`, false)
    }
    for (const { app, write } of [approves, fetches]) {
      await setClosed(`/apps/${app}`, true)
      await write()
    }
    await flow.eventually(async () => expect((await shown(approves.otp_id)).status).to.equal('approved'))
    expect(await flow.waitForCode(fetches.from)).to.match(/^\d{6}$/)
  })

  if (engines === 'real')
    it('is refused within five seconds by a process that did not close it', async () => {
      const { app, server } = await flow.createTenant()
      const { site, secrets } = flow.countersign
      const env = {
        CHANNEL_BACKOFF: '200',
        WEBHOOK_BACKOFF: '200',
        DATA_KEYS: secrets.data.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(),
      }
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

describeLiveFlowOnce('a closed company with a message under way', live => {
  it('has its failure recorded and refunded, and falls back on no other channel', async () => {
    const prices = ['sms', 'telegram'].map(channel => ({ channel, country: '*', micros: SMS_PRICE }))
    expect((await live.admin('PUT', '/prices', { prices })).status).to.equal(200)
    await live.advance(CACHE_TTL_MS)
    const callbackUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/sms`
    const gateway = await startHttpGateway({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
    try {
      const providers = ['sms', 'telegram'].map(channel => ({
        name: channel,
        channel,
        type: 'http',
        config: { url: `${gateway.url}/${channel}`, secret: gateway.secret },
      }))
      const settings = { routing: { default: ['sms', 'telegram'] }, auto_fallback: true }
      const { app, server } = await live.createApp(providers, settings)
      const company = `/companies/${app.replace('app_', 'cmp_')}`
      await live.admin('POST', `${company}/credit`, { micros: 10 * SMS_PRICE, note: 'a transfer' })
      const { otp_id } = (await server.send(freshNumber())).body
      await live.waitForDeliveries(server, otp_id, 'sms sent')
      expect((await live.admin('PATCH', company, { closed: true })).status).to.equal(200)
      await live.advance(CACHE_TTL_MS)
      const [sms] = gateway.messages
      expect(sms && (await gateway.report(sms, 'failed'))).to.equal(200)
      await live.eventually(async () =>
        expect((await live.admin('GET', company)).body.balance).to.equal(10 * SMS_PRICE),
      )
      await live.eventually(async () => expect(await live.deliveryEvents(app)).to.deep.equal(['delivery.failed']))
      const { deliveries } = (await live.admin('GET', `/verifications/${otp_id}`)).body
      expect(deliveries).to.have.length(1)
      expect(deliveries[0]).to.include({ channel: 'sms', status: 'failed' })
      expect(gateway.requests).to.have.length(1)
      expect((await live.admin('GET', `${company}/reconciliation`)).body.problems).to.deep.equal([])
    } finally {
      await gateway.close()
    }
  })
})
