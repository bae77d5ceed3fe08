// The price of a delivery is saved with it, and given back once if the delivery fails.
import { expect } from 'chai'
import { step } from '../../machines/otp.step.ts'
import { issued, message, PRICES, play, reported, resend, start, wait } from '../support/otp.ts'

describe('the price of a delivery', () => {
  const refunds = (played: ReturnType<typeof play>) =>
    played.steps.flatMap(({ effects }) => effects).filter(({ type }) => type === 'refund')
  const paid = (played: { saved: ReturnType<typeof issued> }) =>
    played.saved.context.deliveries.map(({ channel, micros }) => [channel, micros])

  it("is its channel's price when it is made, and 0 on a channel without a price", () => {
    const played = play(
      issued(),
      resend(),
      resend(null, { prices: { telegram: 5 } }),
      resend('email', { usable: ['email'] }),
    )
    expect(paid(played)).to.deep.equal([
      ['sms', PRICES.sms],
      ['whatsapp', PRICES.whatsapp],
      ['telegram', 5],
      ['email', 0],
    ])
  })

  it('is given back once when the delivery fails, even if more receipts follow', () => {
    const played = play(issued(), reported('sent'), reported('failed'), reported('delivered'), reported('failed'))
    expect(refunds(played)).to.deep.equal([
      { type: 'refund', id: 'dlv_1:refund', delivery_id: 'dlv_1', micros: PRICES.sms },
    ])
  })

  it('is not given back when the delivery arrived first, or when nothing was paid', () => {
    expect(refunds(play(issued(), reported('delivered'), reported('failed')))).to.deep.equal([])
    expect(refunds(play(issued({ prices: {} }), reported('failed')))).to.deep.equal([])
  })

  it('is given back when the delivery fails after the verification has expired', () => {
    const late = play(issued(), wait(3_600_000), reported('failed', { delivery_id: 'dlv_1' }))
    expect(refunds(late)).to.have.length(1)
  })

  it('is due for a code in the chat when the user writes, not when the link is made', () => {
    const link = step(null, start({ order: ['whatsapp'], whatsapp: 'link_code' })).saved
    expect(link.context.deliveries).to.deep.equal([])
    expect(paid(play(link, message()))).to.deep.equal([['whatsapp', PRICES.whatsapp]])
  })
})
