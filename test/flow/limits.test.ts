import { expect } from 'chai'
import type { LimitRule } from '../../machines/settings.ts'
import { type Answer, refusal } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { ABUSIVE_IP, describeFlow, FLOW_APP_KEYS, VPN_IP } from '../support/shared-flow.ts'

const CLIENT_IP = '8.8.4.4'

const atMost = (max: number): LimitRule[] => [{ max, seconds: 600 }]

const scopes = (answers: Answer[]): string[] => answers.map(({ status, body }) => body.scope ?? String(status))

describeFlow('the send limits', flow => {
  /** The answers to twelve sends at once. */
  const sendTwelve = (send: () => Promise<Answer>): Promise<Answer[]> =>
    flow.advanceUntil(Promise.all(Array.from({ length: 12 }, send)))

  it('accept exactly the allowed number of sends at once per recipient', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: atMost(2) } })
    const to = freshNumber()
    const answers = await sendTwelve(() => server.send(to))
    expect(scopes(answers).sort()).to.deep.equal(['200', '200', ...Array(10).fill('recipient')])
    await flow.waitForCode(to, 2)
  })

  it('accept exactly the allowed number of sends at once per client address, per app, and per app without a client address', async () => {
    const limits = { client_ip: atMost(2), app: atMost(8), app_without_client_ip: atMost(2) }
    const { server } = await flow.createTenant({ limits })
    const fromOneAddress = await sendTwelve(() => server.send(freshNumber(), { client_ip: CLIENT_IP }))
    expect(scopes(fromOneAddress).sort()).to.deep.equal(['200', '200', ...Array(10).fill('client_ip')])
    const others = await sendTwelve(() => server.send(freshNumber(), { client_ip: freshAddress() }))
    expect(scopes(others).sort(), 'six were left').to.deep.equal([...Array(6).fill('200'), ...Array(6).fill('app')])
    const withoutAddress = await sendTwelve(() => server.send(freshNumber()))
    expect(scopes(withoutAddress).sort()).to.deep.equal(['200', '200', ...Array(10).fill('app_without_client_ip')])
  })

  it('state in body and header how long to wait, and accept a send after that time', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: atMost(1) } })
    const to = freshNumber()
    await server.send(to)
    const refused = await server.send(to)
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'recipient' })
    expect(refused.body.detail).to.include('recipient')
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).to.equal(refused.body.retry_after).and.to.be.within(1, 1200)
    await flow.advance(seconds * 500)
    expect((await server.send(to)).status, 'too early').to.equal(429)
    await flow.advance(seconds * 500)
    expect((await server.send(to)).status).to.equal(200)
  })

  it('are told to a server key in headers, the one nearest to its end, and to no device', async () => {
    const limits = {
      recipient: atMost(2),
      client_ip: atMost(10),
      app: atMost(100),
      recipient_verify: [{ max: 4, seconds: 3600 }],
    }
    const { server, device } = await flow.createTenant({ publishable_send: true, limits })
    const told = ({ headers }: Answer): (string | null)[] =>
      ['ratelimit', 'ratelimit-policy'].map(name => headers.get(name))
    const seconds = (answer: Answer): number => Number(/;t=(\d+)$/.exec(answer.headers.get('ratelimit') ?? '')?.[1])
    const to = freshNumber()
    const first = await server.send(to, { client_ip: CLIENT_IP })
    expect(told(first)).to.deep.equal([`"recipient";r=1;t=${seconds(first)}`, '"recipient";q=2;w=600'])
    expect(seconds(first)).to.be.within(1, 1200)
    const { otp_id } = first.body
    expect((await server.send(to, { client_ip: CLIENT_IP })).headers.get('ratelimit')).to.match(/^"recipient";r=0;/)
    const refused = await server.send(to, { client_ip: CLIENT_IP })
    expect(told(refused)).to.deep.equal([`"recipient";r=0;t=${refused.body.retry_after}`, '"recipient";q=2;w=600'])
    const wrong = await server.verify(otp_id, '0000000')
    expect(told(wrong)).to.deep.equal([`"recipient_verify";r=3;t=${seconds(wrong)}`, '"recipient_verify";q=4;w=3600'])
    for (let nth = 0; nth < 3; nth += 1) await server.verify(otp_id, '0000000')
    const locked = await server.verify(otp_id, '0000000')
    expect(locked.status).to.equal(429)
    const ofVerify = [`"recipient_verify";r=0;t=${locked.body.retry_after}`, '"recipient_verify";q=4;w=3600']
    expect(told(locked)).to.deep.equal(ofVerify)
    await flow.advance(31_000)
    expect((await server.resend(otp_id)).headers.get('ratelimit'), 'of its address').to.match(/^"client_ip";r=7;/)
    const tooSoon = await server.resend(otp_id)
    expect(told(tooSoon), 'no rule').to.deep.equal([`"resend_cooldown";r=0;t=${tooSoon.body.retry_after}`, null])

    const byDevice = await device.send(freshNumber())
    expect(byDevice.status).to.equal(200)
    expect(told(byDevice)).to.deep.equal([null, null])
    expect(told(await device.verify(byDevice.body.otp_id, '0000000'))).to.deep.equal([null, null])
    const refusedDevice = await device.resend(byDevice.body.otp_id)
    expect([refusedDevice.status, ...told(refusedDevice)]).to.deep.equal([429, null, null])
  })

  it('name the first exceeded limit: recipient, then client_ip, then app', async () => {
    const { server } = await flow.createTenant({
      limits: { recipient: atMost(1), client_ip: atMost(1), app: atMost(1) },
    })
    const to = freshNumber()
    await server.send(to, { client_ip: CLIENT_IP })
    expect((await server.send(to, { client_ip: CLIENT_IP })).body.scope).to.equal('recipient')
    expect((await server.send(freshNumber(), { client_ip: CLIENT_IP })).body.scope).to.equal('client_ip')
    expect((await server.send(freshNumber(), { client_ip: freshAddress() })).body.scope).to.equal('app')
  })

  it('do not count refused sends', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: atMost(2), client_ip: atMost(1) } })
    const to = freshNumber()
    const send = async (client_ip: string) => (await server.send(to, { client_ip })).status
    expect(await send(CLIENT_IP)).to.equal(200)
    for (let nth = 0; nth < 4; nth += 1) expect(await send(CLIENT_IP), 'by the address').to.equal(429)
    expect(await send(ABUSIVE_IP)).to.equal(403)
    expect(await send(freshAddress()), 'the recipient has one left').to.equal(200)
    expect(await send(freshAddress())).to.equal(429)
  })

  it('count sends of devices apart from those of servers, per recipient and without a client address', async () => {
    const limits = { recipient: atMost(2), app_without_client_ip: atMost(3) }
    const { server, device } = await flow.createTenant({ limits })
    const to = freshNumber()
    const flood = []
    for (let nth = 0; nth < 3; nth += 1) flood.push(await device.send(to, { forwarded: freshAddress() }))
    for (let nth = 0; nth < 4; nth += 1) flood.push(await device.send(freshNumber()))
    expect(scopes(flood)).to.deep.equal(['200', '200', 'recipient', '200', '200', '200', 'app_without_client_ip'])
    const own = []
    for (let nth = 0; nth < 3; nth += 1) own.push(await server.send(to))
    for (let nth = 0; nth < 2; nth += 1) own.push(await server.send(freshNumber()))
    expect(scopes(own)).to.deep.equal(['200', '200', 'recipient', '200', 'app_without_client_ip'])
  })

  it('count messages to a recipient by the kind of key that started the verification, also if the other kind resends it', async () => {
    const limits = { recipient_messages: atMost(2) }
    const { server, device } = await flow.createTenant({ resend_cooldown_seconds: [0], limits })
    const to = freshNumber()
    const { otp_id } = (await server.send(to)).body
    expect((await device.resend(otp_id)).status).to.equal(200)
    expect((await device.resend(otp_id)).body.scope).to.equal('recipient')
    expect((await server.send(to)).body.scope).to.equal('recipient')
    const own = await device.send(to)
    expect(own.status, 'the device has messages of its own').to.equal(200)
    expect((await server.resend(own.body.otp_id)).status).to.equal(200)
    expect((await device.resend(own.body.otp_id)).body.scope).to.equal('recipient')
  })

  it('give devices a limit of their own in the app, which leaves that of servers alone', async () => {
    const limits = { app_publishable: atMost(3), app: atMost(2), app_without_client_ip: atMost(50) }
    const { server, device } = await flow.createTenant({ limits })
    const first = await device.send(freshNumber(), { forwarded: freshAddress() })
    const answers = [first, await device.send(freshNumber()), await device.send(freshNumber())]
    expect(scopes(answers)).to.deep.equal(['200', '200', '200'])
    const refused = await device.send(freshNumber(), { forwarded: freshAddress() })
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'app' })
    expect(Number(refused.headers.get('retry-after')))
      .to.equal(refused.body.retry_after)
      .and.to.be.within(1, 1200)
    for (const status of [200, 200, 429])
      expect((await server.send(freshNumber(), { client_ip: freshAddress() })).status).to.equal(status)
  })

  it('give one client address a quarter of what the app may send, resends included, and leave the rest to others', async () => {
    const limits = { client_ip: [], app_publishable: atMost(8), app: atMost(8) }
    const { server, device } = await flow.createTenant({ resend_cooldown_seconds: [0], limits })
    const network = '2a01:4f8:7:1'
    const sendFrom = (forwarded: string) => device.send(freshNumber(), { forwarded })
    const { otp_id } = (await sendFrom(`${network}::1`)).body
    const answers = [await device.resend(otp_id), await sendFrom(`${network}::2`), await device.resend(otp_id)]
    expect(scopes(answers)).to.deep.equal(['200', 'client_ip', 'client_ip'])
    for (let nth = 0; nth < 6; nth += 1) expect((await sendFrom(freshAddress())).status).to.equal(200)
    expect((await sendFrom(freshAddress())).body.scope).to.equal('app')
    const byServer = []
    for (let nth = 0; nth < 3; nth += 1) byServer.push(await server.send(freshNumber(), { client_ip: `${network}::1` }))
    expect(scopes(byServer), 'servers have their own').to.deep.equal(['200', '200', 'client_ip'])
  })

  it('count resends for the client address of the send and for the app, and a refused resend changes nothing', async () => {
    const limits = { client_ip: [{ max: 3, seconds: 60 }], app: atMost(16) }
    const { server } = await flow.createTenant({ resend_cooldown_seconds: [0], limits })
    const to = freshNumber()
    const { otp_id } = (await server.send(to, { client_ip: CLIENT_IP })).body
    for (let nth = 0; nth < 2; nth += 1) expect((await server.resend(otp_id)).status).to.equal(200)
    const { channel, expires_at, resend_at } = (await server.status(otp_id)).body
    const refused = await server.resend(otp_id)
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'client_ip' })
    expect(refused.headers.get('ratelimit-policy'), 'of a resend').to.equal('"client_ip";q=3;w=60')
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).to.equal(refused.body.retry_after).and.to.be.within(1, 120)
    const after = (await server.status(otp_id)).body
    expect(after).to.include({ channel, expires_at, resend_at })
    expect(after.deliveries).to.have.length(3)
    expect((await server.send(freshNumber(), { client_ip: CLIENT_IP })).body.scope, 'sends too').to.equal('client_ip')
    await flow.advance(seconds * 1000)
    expect((await server.resend(otp_id)).status, 'the fourth of the app').to.equal(200)

    const other = (await server.send(freshNumber(), { client_ip: freshAddress() })).body.otp_id
    for (let nth = 0; nth < 10; nth += 1)
      expect((await server.send(freshNumber(), { client_ip: freshAddress() })).status).to.equal(200)
    const withoutAddress = (await server.send(freshNumber())).body.otp_id
    expect((await server.resend(withoutAddress)).status, 'the last of the app').to.equal(200)
    for (const id of [other, withoutAddress]) expect((await server.resend(id)).body.scope).to.equal('app')
    await flow.waitForCode(to, 4)
  })

  it('count the resend of a link, which sends no message', async () => {
    const channels = { whatsapp: { mode: 'link_code', business_number: '+15550001111' } }
    const { server } = await flow.createTenant({
      resend_cooldown_seconds: [0],
      limits: { client_ip: atMost(2) },
      channels,
      routing: { default: ['whatsapp'] },
    })
    const { otp_id } = (await server.send(freshNumber(), { client_ip: CLIENT_IP })).body
    expect((await server.resend(otp_id)).status).to.equal(200)
    expect((await server.resend(otp_id)).body.scope).to.equal('client_ip')
  })

  it('do not stop a fallback, which no client asks for', async () => {
    const limits = { client_ip: atMost(1), app: atMost(1) }
    const { server } = await flow.createTenant({ auto_fallback: true, limits })
    const sent = await server.send('+15005550016', { client_ip: CLIENT_IP })
    expect(sent.status).to.equal(200)
    const { otp_id } = sent.body
    await flow.eventually(async () => {
      const { deliveries } = (await server.status(otp_id)).body
      expect(deliveries.map(({ status }: { status: string }) => status)).to.deep.equal(['failed', 'delivered'])
    })
    expect((await server.send(freshNumber(), { client_ip: CLIENT_IP })).body.scope).to.equal('client_ip')
  })

  it('count every spelling of a mailbox as one recipient, and find each verification by its own', async () => {
    const { app, server } = await flow.createTenant({ limits: { recipient: atMost(2) } })
    const send = async (recipient: string) => (await server.send(recipient)).body.scope ?? 'sent'
    expect(await send('ada.lovelace+shop@gmail.com')).to.equal('sent')
    expect(await send('AdaLovelace@googlemail.com')).to.equal('sent')
    expect(await send('a.d.a.lovelace@gmail.com')).to.equal('recipient')
    expect(await send('ada.lovelace@example.com'), 'another mailbox').to.equal('sent')
    expect(await send('adalovelace@example.com'), 'dots count elsewhere').to.equal('sent')
    const search = `/apps/${app}/verifications?recipient=${encodeURIComponent('adalovelace@googlemail.com')}`
    expect((await flow.admin('GET', search)).body.items, 'found as it was written').to.have.length(1)
  })

  it('count an IPv6 address for its /64, for its /56 with four times and for its /48 with sixteen times the limit', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(1) } })
    const send = async (client_ip: string) => (await server.send(freshNumber(), { client_ip })).body.scope ?? 'sent'
    for (const subnet of ['10', '11', '12', '1f']) {
      expect(await send(`2a01:4f8:c0c:${subnet}00::1`)).to.equal('sent')
      expect(await send(`2a01:4f8:c0c:${subnet}00:ffff::2`), 'the same /64').to.equal('client_ip')
      for (const network of ['01', '02', '03'])
        expect(await send(`2a01:4f8:c0c:${subnet}${network}::1`)).to.equal('sent')
      expect(await send(`2a01:4f8:c0c:${subnet}ff::1`), 'the same /56').to.equal('client_ip')
    }
    expect(await send('2a01:4f8:c0c:ffff::1'), 'the same /48').to.equal('client_ip')
    expect(await send('2a01:4f8:c0d:ffff::1'), 'another /48').to.equal('sent')
  })

  it('count an IPv6 /64 network as one address, and an IPv4-mapped address as IPv4', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(1) } })
    const send = async (client_ip: string) => (await server.send(freshNumber(), { client_ip })).status
    expect(await send('2a01:4f8:c0c:1234::1')).to.equal(200)
    expect(await send('2a01:4f8:c0c:1234:ffff::2')).to.equal(429)
    expect(await send('2a01:4f8:c0c:1235::1')).to.equal(200)
    expect(await send('::ffff:9.9.9.9')).to.equal(200)
    expect(await send('9.9.9.9'), 'the same address, not mapped').to.equal(429)
  })

  it('treat a private or reserved address as no client address', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(1), app_without_client_ip: atMost(3) } })
    const answers = []
    for (const client_ip of ['10.0.0.1', '10.0.0.1', '::1', '192.168.7.7'])
      answers.push(await server.send(freshNumber(), { client_ip }))
    expect(scopes(answers)).to.deep.equal(['200', '200', '200', 'app_without_client_ip'])
    expect((await server.send(freshNumber(), { client_ip: CLIENT_IP })).status).to.equal(200)
    expect((await server.send(freshNumber(), { client_ip: '300.1.1.1' })).status, 'not an IP address').to.equal(422)
  })

  it('allow a suspect address a share of its limit, and refuse an abusive address', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(5), client_ip_reputation_factor: 0.4 } })
    const answers = []
    for (let nth = 0; nth < 3; nth += 1) answers.push(await server.send(freshNumber(), { client_ip: VPN_IP }))
    expect(scopes(answers)).to.deep.equal(['200', '200', 'client_ip_reputation'])
    expect(refusal(await server.send(freshNumber(), { client_ip: ABUSIVE_IP }))).to.deep.equal({
      type: 'IpReputationBlockedError',
      status: 403,
    })
  })

  it('use the address of the connection for a publishable key', async () => {
    const { device } = await flow.createTenant({ limits: { client_ip: atMost(1) } })
    expect((await device.send(freshNumber(), { forwarded: '8.8.8.8' })).status).to.equal(200)
    expect((await device.send(freshNumber(), { forwarded: '1.1.1.1, 8.8.8.8' })).body.scope).to.equal('client_ip')
    expect((await device.send(freshNumber(), { forwarded: ABUSIVE_IP })).status).to.equal(403)
    expect((await device.send(freshNumber(), { forwarded: freshAddress() })).status).to.equal(200)
  })

  it('count each app and each mode separately', async () => {
    const [live, test] = [flow.caller(FLOW_APP_KEYS.live), flow.caller(FLOW_APP_KEYS.test)]
    const to = freshNumber()
    const statuses = []
    for (const by of [test, test, test, live, live, live]) statuses.push((await by.send(to)).status)
    expect(statuses).to.deep.equal([200, 200, 429, 200, 200, 429])
    const { server } = await flow.createTenant()
    expect((await server.send(to)).status).to.equal(200)
  })
})

let addresses = 0
const freshAddress = (): string => {
  addresses += 1
  return `77.88.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}
