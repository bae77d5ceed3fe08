import { expect } from 'chai'
import type { NotAllowedCause } from '../../machines/otp.ts'
import { resendAt } from '../../machines/resend.ts'
import { cancel, issued, lapse, MINUTE, PRICES, play, resend, right, SECOND, T0 } from '../support/otp.ts'

const notAllowed = (cause: NotAllowedCause, more = {}) => ({
  kind: 'refused',
  error: 'ResendNotAllowedError',
  cause,
  ...more,
})
const SPENT = notAllowed('send_attempts_spent')
const EXPIRED = notAllowed('not_pending', { otp_status: 'expired' })
const cooling = (retry_after_ms: number) => ({ kind: 'refused', error: 'ResendCooldownError', retry_after_ms })

describe('a resend without a named channel', () => {
  it('moves to the next channel of the order and delivers the same code there', () => {
    const { saved, reply, effects } = play(issued(), resend())
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(saved.value).to.equal('pending')
    expect(saved.context).to.deep.include({ channel: 'whatsapp', sends: 2, generation: 1, tried: ['sms', 'whatsapp'] })
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_2', channel: 'whatsapp', generation: 1 }])
  })

  it('adds a delivery and leaves the earlier ones as they were', () => {
    const before = issued()
    const { saved } = play(before, resend())
    expect(saved.context.deliveries[0]).to.deep.equal(before.context.deliveries[0])
    expect(saved.context.deliveries[1]).to.deep.equal({
      delivery_id: 'dlv_2',
      channel: 'whatsapp',
      generation: 1,
      status: 'queued',
      created_at: T0 + 30 * SECOND,
      updated_at: T0 + 30 * SECOND,
      micros: PRICES.whatsapp,
    })
  })

  it('repeats the last channel once the order is exhausted', () => {
    const { steps } = play(issued(), resend(), resend(), resend(), resend())
    const channels = steps.map(({ saved }) => saved.context.channel)
    expect(channels).to.deep.equal(['whatsapp', 'telegram', 'telegram', 'telegram'])
    expect(steps.at(-1)?.effects).to.deep.equal([{ type: 'deliver', id: 'dlv_5', channel: 'telegram', generation: 1 }])
  })
})

describe('the send attempts', () => {
  it('count the send and its resends; after the last, a resend is refused', () => {
    const spent = play(issued(), resend(), resend(), resend('sms'), resend()).saved
    expect(spent.context.sends).to.equal(5)
    const { reply, changed } = play(spent, resend())
    expect(reply).to.deep.equal(SPENT)
    expect(changed).to.equal(false)
    expect(play(spent, resend('telegram')).reply).to.deep.equal(SPENT)
  })

  it('leave the code valid when they are used up', () => {
    const spent = play(issued({ rules: { send_attempts: 2 } }), resend(), resend())
    expect(play(spent.saved, right()).saved.value).to.equal('approved')
  })
})

describe('the cooldown', () => {
  it('is 30, 60 and 120 s after the 1st, 2nd and 3rd send, and the last value repeats', () => {
    const { steps } = play(issued({ rules: { send_attempts: 6 } }), resend(), resend(), resend(), resend(), resend())
    const times = [T0, ...steps.map(({ saved }) => saved.context.last_sent_at)]
    const gaps = times.slice(1).map((time, sent) => (time - (times[sent] ?? 0)) / SECOND)
    expect(gaps).to.deep.equal([30, 60, 120, 120, 120])
    for (const { reply } of steps) expect(reply).to.deep.equal({ kind: 'accepted' })
  })

  it('refuses a millisecond before its end, with the time that is left', () => {
    const { reply, changed } = play(issued(), resend(null, { at: T0 + 29_999 }))
    expect(reply).to.deep.equal(cooling(1))
    expect(changed).to.equal(false)
    expect(play(issued(), resend(null, { at: T0 + 30_000 })).reply).to.deep.equal({ kind: 'accepted' })
  })

  it('counts from the latest send', () => {
    const twice = play(issued(), resend(null, { at: T0 + 45_000 })).saved
    expect(play(twice, resend(null, { at: T0 + 50_000 })).reply).to.deep.equal(cooling(55_000))
  })

  it('also holds for a resend that names a channel', () => {
    expect(play(issued(), resend('telegram', { at: T0 + 1_000 })).reply).to.deep.equal(cooling(29_000))
  })

  it('is not prolonged by a refused resend', () => {
    const early = play(issued(), resend(null, { at: T0 + 20_000 })).saved
    expect(play(early, resend(null, { at: T0 + 30_000 })).reply).to.deep.equal({ kind: 'accepted' })
  })

  it('sets resend_at, which is null when no resend is possible', () => {
    const { value, context } = issued()
    expect(resendAt(value, context, T0)).to.equal(T0 + 30_000)
    expect(resendAt(value, context, context.expires_at)).to.equal(null)
    expect(resendAt('approved', context, T0)).to.equal(null)
    const spent = play(issued({ rules: { send_attempts: 2 } }), resend()).saved
    expect(resendAt(spent.value, spent.context, spent.context.last_sent_at)).to.equal(null)
  })
})

describe('a resend', () => {
  const late = T0 + 10 * MINUTE

  it('is refused when the verification has ended or expired', () => {
    for (const end of [right(), cancel(), lapse()]) {
      const { saved } = play(issued(), end)
      expect(play(saved, resend()).reply).to.deep.equal(notAllowed('not_pending', { otp_status: saved.value }))
    }
    expect(play(issued(), resend(null, { at: late })).reply, 'expired').to.deep.equal(EXPIRED)
    expect(play(issued(), resend(null, { at: late - 1 })).reply, 'not yet').to.deep.equal({ kind: 'accepted' })
  })

  it('is checked for expiry before the cooldown', () => {
    const { reply } = play(issued({ rules: { cooldowns_ms: [60 * MINUTE] } }), resend(null, { at: late }))
    expect(reply).to.deep.equal(EXPIRED)
  })

  it('is checked for send attempts before the cooldown', () => {
    const { reply } = play(issued({ rules: { send_attempts: 1 } }), resend(null, { at: T0 + 1 }))
    expect(reply).to.deep.equal(SPENT)
  })

  it('is checked for the cooldown before the channel', () => {
    const { reply } = play(issued(), resend('email', { at: T0 + 1_000, usable: [] }))
    expect(reply).to.deep.equal(cooling(29_000))
  })

  it('is checked for a usable channel last', () => {
    const named = play(issued(), resend('email', { usable: ['sms'], obstacle: 'cannot_reach_recipient' }))
    expect(named.reply).to.deep.equal(notAllowed('channel_cannot_reach_recipient', { channel: 'email' }))
    const plain = play(issued(), resend(null, { usable: [] }))
    expect(plain.reply).to.deep.equal(notAllowed('no_usable_channel'))
  })
})
