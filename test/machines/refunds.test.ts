// The price of a delivery is saved with it, and given back once if the delivery fails.
import { expect } from 'chai'
import { step } from '../../machines/otp.step.ts'
import type { ReportedStatus } from '../../machines/otp.ts'
import { cancel, issued, lapse, message, PRICES, play, reported, resend, right, start, wait } from '../support/otp.ts'

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

  it('is not given back when the verification ends, or a newer code is sent, while a provider may have the message', () => {
    const failed = (may_have_gone?: true) =>
      reported('failed', { delivery_id: 'dlv_1', reason: 'superseded', may_have_gone })
    for (const over of [cancel(), lapse(), resend('email', { usable: ['email'] })]) {
      const kept = play(issued(), wait(3_600_000), over, failed(true))
      expect(refunds(kept)).to.deep.equal([])
      expect(kept.saved.context.deliveries[0]).to.include({ status: 'failed', charge: 'kept' })
      expect(refunds(play(issued(), wait(3_600_000), over, failed()))).to.have.length(1)
    }
    const free = play(issued({ prices: {} }), cancel(), failed(true))
    expect(free.saved.context.deliveries[0]).not.to.have.property('charge')
  })

  it('is due for a code in the chat when the user writes, not when the link is made', () => {
    const link = step(null, start({ order: ['whatsapp'], whatsapp: 'link_code' })).saved
    expect(link.context.deliveries).to.deep.equal([])
    expect(paid(play(link, message()))).to.deep.equal([['whatsapp', PRICES.reply]])
  })
})

describe('the price of a delivery whose code was entered', () => {
  const money = (played: ReturnType<typeof play>) =>
    played.steps.flatMap(({ effects }) => effects.flatMap(one => ('micros' in one ? [`${one.id} ${one.micros}`] : [])))
  const receipt = (status: ReportedStatus, delivery_id: string) => reported(status, { delivery_id, provider: 'main' })
  /** No provider had accepted it. */
  const unsent = (delivery_id: string) => reported('failed', { delivery_id, reason: 'superseded' })
  const REFUND = `dlv_1:refund ${PRICES.sms}`
  const RECHARGE = `dlv_1:recharge ${PRICES.sms}`

  it('is charged again when it had been refunded, once', () => {
    const failed = [receipt('sent', 'dlv_1'), receipt('failed', 'dlv_1')]
    expect(money(play(issued(), ...failed, right(), right(), receipt('failed', 'dlv_1')))).to.deep.equal([
      REFUND,
      RECHARGE,
    ])
    expect(money(play(issued(), receipt('failed', 'dlv_1'), right())), 'the receipt came first').to.deep.equal([
      REFUND,
      RECHARGE,
    ])
  })

  it('is not given back when the failure comes after the approval', () => {
    expect(money(play(issued(), receipt('sent', 'dlv_1'), right(), receipt('failed', 'dlv_1')))).to.deep.equal([])
    expect(money(play(issued(), right(), receipt('failed', 'dlv_1'))), 'not known as sent').to.deep.equal([])
    expect(money(play(issued(), right(), unsent('dlv_1'))), 'the answer of the provider was lost').to.deep.equal([])
    const refused = reported('failed', { delivery_id: 'dlv_2', reason: 'recipient_unreachable' })
    const resent = [receipt('sent', 'dlv_1'), resend()]
    expect(money(play(issued(), ...resent, right(), refused)), 'the provider was called').to.deep.equal([])
  })

  it('is charged again for the latest message of the generation, and for none while another one was sent', () => {
    const twice = [receipt('failed', 'dlv_1'), resend('sms')]
    expect(money(play(issued(), ...twice, receipt('failed', 'dlv_2'), right()))).to.deep.equal([
      REFUND,
      `dlv_2:refund ${PRICES.sms}`,
      `dlv_2:recharge ${PRICES.sms}`,
    ])
    for (const status of ['sent', 'delivered'] as const)
      expect(
        money(play(issued(), receipt('failed', 'dlv_1'), resend(), receipt(status, 'dlv_2'), right())),
      ).to.deep.equal([REFUND])
    expect(money(play(issued(), ...twice, right())), 'of an earlier generation').to.deep.equal([REFUND])
  })

  it('is charged again for the message that a provider took, not for a later one that all refused', () => {
    const refused = reported('failed', { delivery_id: 'dlv_2', reason: 'provider_failed' })
    expect(
      money(play(issued(), receipt('sent', 'dlv_1'), receipt('failed', 'dlv_1'), resend(), refused, right())),
    ).to.deep.equal([REFUND, `dlv_2:refund ${PRICES.whatsapp}`, RECHARGE])
  })

  it('is charged again for a message that every provider refused: one of them delivered it', () => {
    const refused = reported('failed', { reason: 'recipient_unreachable' })
    expect(money(play(issued(), refused, right()))).to.deep.equal([REFUND, RECHARGE])
    const free = resend(null, { prices: {} })
    expect(money(play(issued(), refused, free, right())), 'the other one is free').to.deep.equal([REFUND, RECHARGE])
  })

  it('is not charged again for such a message while a later one that is paid for is on its way', () => {
    const refused = reported('failed', { delivery_id: 'dlv_1', reason: 'recipient_unreachable' })
    const queued = [refused, resend(), right()]
    for (const status of ['sent', 'failed'] as const)
      expect(money(play(issued(), ...queued, receipt(status, 'dlv_2'))), status).to.deep.equal([REFUND])
    expect(money(play(issued(), ...queued, unsent('dlv_2'))), 'no other one brought the code').to.deep.equal([REFUND])
  })

  it('is charged again for a message that the provider which took it reports as canceled', () => {
    const canceled = reported('failed', { provider: 'main', reason: 'superseded' })
    expect(money(play(issued(), receipt('sent', 'dlv_1'), canceled, right()))).to.deep.equal([REFUND, RECHARGE])
    expect(money(play(issued(), right(), canceled))).to.deep.equal([])
  })

  it('is not charged again for a message that no provider was called for, or that was free', () => {
    for (const reason of ['superseded', 'no_provider'] as const)
      expect(money(play(issued(), reported('failed', { reason }), right())), reason).to.deep.equal([REFUND])
    expect(money(play(issued({ prices: {} }), receipt('failed', 'dlv_1'), right()))).to.deep.equal([])
  })

  it('does not keep the price of another message that was not sent any more', () => {
    const resent = [receipt('sent', 'dlv_1'), resend()]
    const whatsappRefund = `dlv_2:refund ${PRICES.whatsapp}`
    expect(money(play(issued(), ...resent, right(), unsent('dlv_2')))).to.deep.equal([whatsappRefund])
    const afterRefund = [receipt('failed', 'dlv_1'), resend()]
    expect(money(play(issued(), ...afterRefund, right(), unsent('dlv_2')))).to.deep.equal([
      REFUND,
      RECHARGE,
      whatsappRefund,
    ])
    expect(money(play(issued(), resend(), right(), unsent('dlv_1'), unsent('dlv_2'))), 'one of two').to.deep.equal([
      REFUND,
    ])
  })
})

describe('the price of a delivery that failed, and whose arrival is reported later', () => {
  const HOURS = 3_600_000
  const charged = (played: ReturnType<typeof play>) =>
    played.steps.flatMap(({ effects }) => effects.flatMap(one => ('micros' in one ? [one.id] : [])))
  const delivery = ({ saved }: ReturnType<typeof play>) => saved.context.deliveries[0]
  const failed = reported('failed', { delivery_id: 'dlv_1' })
  const arrived = reported('delivered', { delivery_id: 'dlv_1' })
  const REFUNDED_AND_CHARGED = ['dlv_1:refund', 'dlv_1:recharge']

  it('is charged again once, and its status and events stay as they were told', () => {
    for (const ended of [[], [cancel()], [wait(600_000), lapse()]]) {
      const late = play(issued(), ...ended, failed, arrived, arrived)
      expect(charged(late)).to.deep.equal(REFUNDED_AND_CHARGED)
      expect(delivery(late)).to.include({ status: 'failed', charge: 'again' }).and.to.have.property('late_receipt_at')
      expect(late.events).to.deep.equal(['delivery.failed'])
    }
    expect(charged(play(issued({ code: { given: 'sealed code' } }), failed, arrived)), 'a message').to.deep.equal(
      REFUNDED_AND_CHARGED,
    )
  })

  it('is charged again for 72 hours', () => {
    expect(charged(play(issued(), failed, wait(72 * HOURS), arrived))).to.deep.equal(REFUNDED_AND_CHARGED)
    const tooLate = play(issued(), failed, wait(72 * HOURS + 1), arrived)
    expect(charged(tooLate)).to.deep.equal(['dlv_1:refund'])
    expect(delivery(tooLate)).not.to.have.property('late_receipt_at')
  })

  it('is not charged twice where the code was entered too, nor at all where it was free or not refunded', () => {
    expect(charged(play(issued(), failed, right(), arrived)), 'after the approval').to.deep.equal(REFUNDED_AND_CHARGED)
    expect(charged(play(issued(), failed, arrived, right())), 'before it').to.deep.equal(REFUNDED_AND_CHARGED)
    expect(charged(play(issued(), right(), failed, arrived)), 'kept').to.deep.equal([])
    expect(charged(play(issued({ prices: {} }), failed, arrived)), 'free').to.deep.equal([])
  })

  it('leaves another message of a later code to be charged by the approval', () => {
    const second = reported('failed', { delivery_id: 'dlv_2', provider: 'main' })
    expect(charged(play(issued(), failed, resend('sms'), second, arrived, right()))).to.deep.equal([
      'dlv_1:refund',
      'dlv_2:refund',
      'dlv_1:recharge',
      'dlv_2:recharge',
    ])
  })
})
