// Recipients with a fixed outcome, by number and by email address. test/services/channel/providers/sandbox.test.ts shows how the sandbox
// plays their receipts.
import { expect } from 'chai'
import { refusal } from '../support/api-caller.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const REFUSALS: [number: string, name: string, status: number, type: string][] = [
  ['+15005550001', 'invalid', 422, 'InvalidRecipientError'],
  ['+15005550002', 'no-channel', 409, 'NoEnabledChannelError'],
  ['+15005550003', 'geo', 403, 'GeoBlockedError'],
  ['+15005550004', 'funds', 402, 'InsufficientFundsError'],
  ['+15005550005', 'ip', 403, 'IpReputationBlockedError'],
  ['+15005550006', 'rate', 429, 'RateLimitExceededError'],
]

const DELIVERIES: [number: string, name: string, finalStatus: string, events: string[]][] = [
  ['+15005550010', 'delivered', 'delivered', ['delivery.delivered']],
  ['+15005550011', 'failed', 'failed', ['delivery.failed']],
  ['+15005550013', 'twice', 'delivered', ['delivery.delivered']],
  ['+15005550014', 'disorder', 'delivered', ['delivery.delivered']],
  ['+15005550015', 'silent', 'sent', []],
]

describeFlowOnce('magic recipients', flow => {
  it('cause every refusal of a send', async () => {
    const { server } = await flow.createTenant()
    for (const [number, name, status, type] of REFUSALS)
      for (const recipient of [number, `${name}@magic.test`, `${name}@MAGIC.Test`]) {
        const answer = await server.send(recipient)
        expect(refusal(answer), recipient).to.include({ type, status })
      }
    const limited = await server.send('rate@magic.test')
    expect(limited.body.scope).to.equal('recipient')
    flow.expectRetryAfter(limited, 60)
  })

  it('cause every outcome of a delivery, with at most one event each', async () => {
    const { app, server } = await flow.createTenant()
    const sent = new Map<string, (typeof DELIVERIES)[number]>()
    for (const delivery of DELIVERIES)
      for (const recipient of [delivery[0], `${delivery[1]}@magic.test`])
        sent.set((await server.send(recipient)).body.otp_id, delivery)
    const statuses = () =>
      Promise.all([...sent.keys()].map(async otp_id => (await server.status(otp_id)).body.deliveries[0].status))
    await flow.eventually(async () => {
      expect(await statuses()).to.deep.equal([...sent.values()].map(([, , finalStatus]) => finalStatus))
      expect(await flow.events(app)).to.have.length([...sent.values()].flatMap(([, , , events]) => events).length)
    })
    // Once this later send is delivered, the sandbox has played all receipts of the sends before.
    const last = await flow.startVerification(server)
    await flow.eventually(async () =>
      expect((await server.status(last.otp_id)).body.deliveries[0].status).to.equal('delivered'),
    )
    const events = await flow.events(app)
    for (const [otp_id, [, name, finalStatus, expected]] of sent) {
      const happened = events.filter(({ payload }) => payload.otp_id === otp_id)
      expect(
        happened.map(({ type }) => type),
        name,
      ).to.deep.equal(expected)
      expect((await server.status(otp_id)).body.deliveries[0].status, name).to.equal(finalStatus)
      for (const { payload } of happened) expect(payload).to.have.all.keys('otp_id', 'delivery_id', 'status')
    }
    expect(new Set(events.map(({ id }) => id))).to.have.property('size', events.length)
  })

  it('include one that fails on the first channel only, so that a resend arrives', async () => {
    const { server } = await flow.createTenant({ resend_cooldown_seconds: [0] })
    const { otp_id } = (await server.send('+15005550016')).body
    const statuses = async () =>
      (await server.status(otp_id)).body.deliveries.map(({ status }: { status: string }) => status)
    await flow.eventually(async () => expect(await statuses()).to.deep.equal(['failed']))
    await server.resend(otp_id)
    await flow.eventually(async () => expect(await statuses()).to.deep.equal(['failed', 'delivered']))
  })

  it('are exempt from the limit per recipient', async () => {
    const { server } = await flow.createTenant({ limits: { recipient: [{ max: 1, seconds: 600 }] } })
    for (let nth = 0; nth < 3; nth += 1) expect((await server.send('silent@magic.test')).status).to.equal(200)
  })

  it('are exempt from the limit of wrong codes per recipient', async () => {
    const { server } = await flow.createTenant({ limits: { recipient_verify: [{ max: 1, seconds: 600 }] } })
    for (let nth = 0; nth < 3; nth += 1) {
      const { otp_id } = (await server.send('silent@magic.test')).body
      for (const attempts_left of [4, 3])
        expect((await server.verify(otp_id, '0000')).body).to.include({ matched: false, attempts_left })
    }
  })
})
