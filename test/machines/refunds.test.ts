// What a delivery costs is remembered with it, and given back when it fails: once, and only then.
import { expect } from 'chai'
import { step } from '../../machines/otp.step.ts'
import { issued, message, PRICES, play, reported, resend, start, wait } from '../support/otp.ts'

describe('the price of a delivery', () => {
  const refunds = (played: ReturnType<typeof play>) =>
    played.steps.flatMap(({ effects }) => effects).filter(({ type }) => type === 'refund')
  const paid = (played: { saved: ReturnType<typeof issued> }) =>
    played.saved.context.deliveries.map(({ channel, micros }) => [channel, micros])

  it('is that of its channel when it was made, and nothing where the channel has none', () => {
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

  it('is given back when the delivery fails, once, whatever receipts follow', () => {
    const played = play(issued(), reported('sent'), reported('failed'), reported('delivered'), reported('failed'))
    expect(refunds(played)).to.deep.equal([
      { type: 'refund', id: 'dlv_1:refund', delivery_id: 'dlv_1', micros: PRICES.sms },
    ])
  })

  it('is kept when it arrived first, and when nothing was paid', () => {
    expect(refunds(play(issued(), reported('delivered'), reported('failed')))).to.deep.equal([])
    expect(refunds(play(issued({ prices: {} }), reported('failed')))).to.deep.equal([])
  })

  it('is given back also for a delivery that was superseded, and after the end', () => {
    const late = play(issued(), wait(3_600_000), reported('failed', { reported_id: 'dlv_1' }))
    expect(refunds(late)).to.have.length(1)
  })

  it('of a code in the chat is due when the user writes, not when the link is made', () => {
    const link = step(null, start({ order: ['whatsapp'], whatsapp: 'link_code' })).saved
    expect(link.context.deliveries).to.deep.equal([])
    expect(paid(play(link, message()))).to.deep.equal([['whatsapp', PRICES.whatsapp]])
  })
})
