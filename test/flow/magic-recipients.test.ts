// Recipients with a fixed outcome, by number and by email address. Those of a delivery are in
// test/services/channel/providers/sandbox.test.ts.
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
