// Recipients with a fixed fate, by number and by address. How the sandbox plays each receipt is told in sandbox.test.ts.
import { expect } from 'chai'
import { refusal } from '../support/api-caller.ts'
import { describeFlow } from '../support/shared-flow.ts'

const REFUSED: [number: string, name: string, status: number, type: string][] = [
  ['+15005550001', 'invalid', 422, 'InvalidRecipientError'],
  ['+15005550002', 'no-channel', 409, 'NoEnabledChannelError'],
  ['+15005550003', 'geo', 403, 'GeoBlockedError'],
  ['+15005550004', 'funds', 402, 'InsufficientFundsError'],
  ['+15005550005', 'ip', 403, 'IpReputationBlockedError'],
  ['+15005550006', 'rate', 429, 'RateLimitExceededError'],
]

const PLAYED: [number: string, name: string, ends: string, events: string[]][] = [
  ['+15005550010', 'delivered', 'delivered', ['delivery.delivered']],
  ['+15005550011', 'failed', 'failed', ['delivery.failed']],
  ['+15005550013', 'twice', 'delivered', ['delivery.delivered']],
  ['+15005550014', 'disorder', 'delivered', ['delivery.delivered']],
  ['+15005550015', 'silent', 'sent', []],
]

describeFlow('magic recipients', (flow, engines) => {
  it('meet every refusal of a send', async () => {
    const { server } = await flow.createTenant()
    for (const [number, name, status, type] of REFUSED)
      for (const recipient of [number, `${name}@magic.test`, `${name}@MAGIC.Test`]) {
        const answer = await server.send(recipient)
        expect(refusal(answer), recipient).to.include({ type, status })
      }
    const limited = await server.send('rate@magic.test')
    expect(limited.body.scope).to.equal('recipient')
    flow.expectRetryAfter(limited, 60)
  })

  it('see every outcome of a delivery, in the status and as events, each once', async () => {
    const { app, server } = await flow.createTenant()
    const sent = new Map<string, (typeof PLAYED)[number]>()
    for (const fate of PLAYED)
      for (const recipient of [fate[0], `${fate[1]}@magic.test`])
        sent.set((await server.send(recipient)).body.otp_id, fate)
    const statuses = () =>
      Promise.all([...sent.keys()].map(async otp_id => (await server.status(otp_id)).body.deliveries[0].status))
    await flow.eventually(async () => {
      expect(await statuses()).to.deep.equal([...sent.values()].map(([, , ends]) => ends))
      expect(await flow.events(app)).to.have.length([...sent.values()].flatMap(([, , , events]) => events).length)
    })
    // Whatever else the sandbox had to say has been said by then.
    const last = await flow.startVerification(server)
    await flow.eventually(async () =>
      expect((await server.status(last.otp_id)).body.deliveries[0].status).to.equal('delivered'),
    )
    const events = await flow.events(app)
    for (const [otp_id, [, name, ends, expected]] of sent) {
      const happened = events.filter(({ payload }) => payload.otp_id === otp_id)
      expect(
        happened.map(({ type }) => type),
        name,
      ).to.deep.equal(expected)
      expect((await server.status(otp_id)).body.deliveries[0].status, name).to.equal(ends)
      for (const { payload } of happened) expect(payload).to.have.all.keys('otp_id', 'delivery_id', 'status')
    }
    expect(new Set(events.map(({ id }) => id))).to.have.property('size', events.length)
  })

  it('hear of it late', async () => {
    const { server } = await flow.createTenant()
    const { otp_id } = (await server.send('late@magic.test')).body
    const status = async () => (await server.status(otp_id)).body.deliveries[0].status
    await flow.eventually(async () => expect(await status()).to.equal('sent'))
    await flow.advance(25_000)
    if (engines === 'embedded') expect(await status(), 'not before 30 s').to.equal('sent')
    await flow.advance(6_000)
    await flow.eventually(async () => expect(await status()).to.equal('delivered'))
  })

  it('fail on the first channel only; a resend then arrives', async () => {
    const { server } = await flow.createTenant({ resend_cooldown_seconds: [0] })
    const { otp_id } = (await server.send('+15005550016')).body
    const statuses = async () =>
      (await server.status(otp_id)).body.deliveries.map(({ status }: { status: string }) => status)
    await flow.eventually(async () => expect(await statuses()).to.deep.equal(['failed']))
    await server.resend(otp_id)
    await flow.eventually(async () => expect(await statuses()).to.deep.equal(['failed', 'delivered']))
  })

  it('go on by themselves where the app falls back', async () => {
    const { server } = await flow.createTenant({ auto_fallback: true })
    const { otp_id } = (await server.send('+15005550016')).body
    await flow.eventually(async () => {
      const { channel, deliveries } = (await server.status(otp_id)).body
      expect([channel, ...deliveries.map(({ status }: { status: string }) => status)]).to.deep.equal([
        'whatsapp',
        'failed',
        'delivered',
      ])
    })
  })

  it('are not limited by recipient', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: [{ max: 1, seconds: 600 }] } })
    for (let nth = 0; nth < 3; nth += 1) expect((await server.send('silent@magic.test')).status).to.equal(200)
  })
})
