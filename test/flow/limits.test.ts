import { expect } from 'chai'
import type { LimitRule } from '../../machines/settings.ts'
import { type Answer, refusal } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { ABUSIVE_IP, describeFlow, FLOW_APP_KEYS, VPN_IP } from '../support/shared-flow.ts'

const ONE = '8.8.4.4'

const atMost = (max: number): LimitRule[] => [{ max, seconds: 600 }]

const scopes = (answers: Answer[]): string[] => answers.map(({ status, body }) => body.scope ?? String(status))

describeFlow('limits on sending', flow => {
  /** How a dozen at once fare. */
  const sendTwelve = (send: () => Promise<Answer>): Promise<Answer[]> =>
    flow.advanceUntil(Promise.all(Array.from({ length: 12 }, send)))

  it('let exactly two of twelve pass at once where two may, for a recipient', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: atMost(2) } })
    const to = freshNumber()
    const answers = await sendTwelve(() => server.send(to))
    expect(scopes(answers).sort()).to.deep.equal(['200', '200', ...Array(10).fill('recipient')])
    await flow.waitForCode(to, 2)
  })

  it('and for an address, and for an app', async () => {
    const limits = { client_ip: atMost(2), app: atMost(3), app_without_client_ip: atMost(2) }
    const { server } = await flow.createTenant({ limits })
    const fromOne = await sendTwelve(() => server.send(freshNumber(), { client_ip: ONE }))
    expect(scopes(fromOne).sort()).to.deep.equal(['200', '200', ...Array(10).fill('client_ip')])
    const others = await sendTwelve(() => server.send(freshNumber(), { client_ip: freshAddress() }))
    expect(scopes(others).sort(), 'one was left').to.deep.equal(['200', ...Array(11).fill('app')])
    const fromNowhere = await sendTwelve(() => server.send(freshNumber()))
    expect(scopes(fromNowhere).sort()).to.deep.equal(['200', '200', ...Array(10).fill('app_without_client_ip')])
  })

  it('say how long to wait, in the header too, and mean it', async () => {
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

  it('answer by the first in the table', async () => {
    const { server } = await flow.createTenant({
      limits: { recipient: atMost(1), client_ip: atMost(1), app: atMost(1) },
    })
    const to = freshNumber()
    await server.send(to, { client_ip: ONE })
    expect((await server.send(to, { client_ip: ONE })).body.scope).to.equal('recipient')
    expect((await server.send(freshNumber(), { client_ip: ONE })).body.scope).to.equal('client_ip')
    expect((await server.send(freshNumber(), { client_ip: freshAddress() })).body.scope).to.equal('app')
  })

  it('count nothing that was refused', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: atMost(2), client_ip: atMost(1) } })
    const to = freshNumber()
    const send = async (client_ip: string) => (await server.send(to, { client_ip })).status
    expect(await send(ONE)).to.equal(200)
    for (let nth = 0; nth < 4; nth += 1) expect(await send(ONE), 'by the address').to.equal(429)
    expect(await send(ABUSIVE_IP)).to.equal(403)
    expect(await send(freshAddress()), 'the recipient has one left').to.equal(200)
    expect(await send(freshAddress())).to.equal(429)
  })

  it('take a household of IPv6 addresses for one', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(1) } })
    const send = async (client_ip: string) => (await server.send(freshNumber(), { client_ip })).status
    expect(await send('2a01:4f8:c0c:1234::1')).to.equal(200)
    expect(await send('2a01:4f8:c0c:1234:ffff::2')).to.equal(429)
    expect(await send('2a01:4f8:c0c:1235::1')).to.equal(200)
    expect(await send('::ffff:9.9.9.9')).to.equal(200)
    expect(await send('9.9.9.9'), 'the same, unmapped').to.equal(429)
  })

  it('take a private or reserved address for none', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(1), app_without_client_ip: atMost(3) } })
    const answers = []
    for (const client_ip of ['10.0.0.1', '10.0.0.1', '::1', '192.168.7.7'])
      answers.push(await server.send(freshNumber(), { client_ip }))
    expect(scopes(answers)).to.deep.equal(['200', '200', '200', 'app_without_client_ip'])
    expect((await server.send(freshNumber(), { client_ip: ONE })).status).to.equal(200)
    expect((await server.send(freshNumber(), { client_ip: '300.1.1.1' })).status, 'that is none at all').to.equal(422)
  })

  it('leave a suspect address its share, and an abusive one nothing', async () => {
    const { server } = await flow.createTenant({ limits: { client_ip: atMost(5), client_ip_reputation_factor: 0.4 } })
    const answers = []
    for (let nth = 0; nth < 3; nth += 1) answers.push(await server.send(freshNumber(), { client_ip: VPN_IP }))
    expect(scopes(answers)).to.deep.equal(['200', '200', 'client_ip_reputation'])
    expect(refusal(await server.send(freshNumber(), { client_ip: ABUSIVE_IP }))).to.deep.equal({
      type: 'IpReputationBlockedError',
      status: 403,
    })
  })

  it("know a device by its connection's address", async () => {
    const { device } = await flow.createTenant({ limits: { client_ip: atMost(1) } })
    expect((await device.send(freshNumber(), { forwarded: '8.8.8.8' })).status).to.equal(200)
    expect((await device.send(freshNumber(), { forwarded: '1.1.1.1, 8.8.8.8' })).body.scope).to.equal('client_ip')
    expect((await device.send(freshNumber(), { forwarded: ABUSIVE_IP })).status).to.equal(403)
    expect((await device.send(freshNumber(), { forwarded: freshAddress() })).status).to.equal(200)
  })

  it('are apart for each app and for its two worlds', async () => {
    const [live, tester] = [flow.caller(FLOW_APP_KEYS.live), flow.caller(FLOW_APP_KEYS.test)]
    const to = freshNumber()
    const statuses = []
    for (const by of [tester, tester, tester, live, live, live]) statuses.push((await by.send(to)).status)
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
