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
    for (const [otp_id, [, name, , expected]] of sent) {
      const happened = events.filter(({ payload }) => payload.otp_id === otp_id)
      expect(
        happened.map(({ type }) => type),
        name,
      ).to.deep.equal(expected)
      for (const { payload } of happened) expect(payload).to.have.all.keys('otp_id', 'delivery_id', 'status')
    }
  })

  it('are exempt from the limits of sends and of wrong codes per recipient', async () => {
    const rule = [{ max: 1, seconds: 600 }]
    const { server } = await flow.createTenant({ limits: { recipient: rule, recipient_verify: rule } })
    for (let nth = 0; nth < 3; nth += 1) {
      const { otp_id } = (await server.send('silent@magic.test')).body
      for (const attempts_left of [4, 3])
        expect((await server.verify(otp_id, '0000')).body).to.include({ matched: false, attempts_left })
    }
  })
})
