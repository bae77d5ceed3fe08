import { expect } from 'chai'
import type { LimitRule } from '../../machines/settings.ts'
import { type Answer, refusal } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const CLIENT_IP = '8.8.4.4'

const atMost = (max: number): LimitRule[] => [{ max, seconds: 600 }]

const scopes = (answers: Answer[]): string[] => answers.map(({ status, body }) => body.scope ?? String(status))

describeFlow('the send limits', (flow, engines) => {
  const itOnce = itOnceOf(engines)
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

  itOnce('are told to a server key in headers, the one nearest to its end, and to no device', async () => {
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

  itOnce('count resends for the address of the send and for the app; a refused one changes nothing', async () => {
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
})

let addresses = 0
const freshAddress = (): string => {
  addresses += 1
  return `77.88.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}
