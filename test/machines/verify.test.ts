import { expect } from 'chai'
import {
  device,
  issued,
  MINUTE,
  message,
  otherDevice,
  play,
  reported,
  resend,
  right,
  server,
  T0,
  wait,
  wrong,
} from '../support/otp.ts'

describe('the right code', () => {
  it('approves the verification with one webhook event', () => {
    const { saved, reply, effects, dueAt } = play(issued(), wait(7_000), right({ event_id: 'evt_approved' }))
    expect(saved.value).to.equal('approved')
    expect(reply).to.deep.equal({ kind: 'verified', status: 'approved', matched: true, attempts_left: 5, token: false })
    expect(effects).to.deep.equal([
      { type: 'notify', id: 'evt_approved', event: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } },
    ])
    expect(saved.context.approval).to.deep.equal({ at: T0 + 7_000, by: server, generation: 1, channel: 'sms' })
    expect(dueAt).to.equal(null)
  })

  it('costs no attempt', () => {
    const { saved, reply } = play(issued(), wrong(), right())
    expect(saved.context.wrong_codes).to.equal(1)
    expect(reply).to.include({ attempts_left: 4 })
  })

  it('keeps the time of the first wrong code alone', () => {
    expect(play(issued(), right()).saved.context).to.not.have.property('first_wrong_at')
    const { saved } = play(issued(), wrong({ at: T0 + 1_000 }), wrong({ at: T0 + 2_000 }))
    expect(saved.context.first_wrong_at).to.equal(T0 + 1_000)
  })

  it('approves with the last attempt too', () => {
    const { saved } = play(issued(), wrong(), wrong(), wrong(), wrong(), right())
    expect(saved.value).to.equal('approved')
  })

  it('is recorded with its channel and generation', () => {
    const { saved } = play(issued(), resend('telegram'), right())
    expect(saved.context.approval).to.include({ channel: 'telegram', generation: 2 })
  })

  it('names the channel on which the code arrived, where the latest message with it failed', () => {
    const resent = [reported('delivered', { delivery_id: 'dlv_1' }), resend()]
    const channelAfter = (...commands: Parameters<typeof play>[1][]) =>
      play(issued(), ...resent, ...commands, right()).saved.context.approval?.channel
    expect(channelAfter()).to.equal('whatsapp')
    expect(channelAfter(reported('sent', { delivery_id: 'dlv_2' }))).to.equal('whatsapp')
    const taken = reported('failed', { delivery_id: 'dlv_1', provider: 'main' })
    const refused = reported('failed', { delivery_id: 'dlv_2', reason: 'provider_failed' })
    expect(play(issued(), taken, resend(), refused, right()).saved.context.approval?.channel, 'charged again').to.equal(
      'sms',
    )
    expect(channelAfter(reported('failed', { delivery_id: 'dlv_2' }))).to.equal('sms')
    expect(
      play(issued(), resend(), reported('failed', { delivery_id: 'dlv_2' }), right()).saved.context.approval,
    ).to.include({
      channel: 'whatsapp',
    })
  })

  it('gives a token to a device, also another one than started the verification, and none to a server', () => {
    expect(play(issued({ started_by: device }), right({ by: device })).reply).to.include({ token: true })
    expect(play(issued(), right({ by: device })).reply).to.include({ matched: true, token: true })
    expect(play(issued(), right({ by: server })).reply).to.include({ matched: true, token: false })
    expect(play(issued({ started_by: device }), right({ by: otherDevice })).saved.value).to.equal('approved')
  })
})

describe('a wrong code', () => {
  it('is no error: the reply is pending, with the attempts left and no token', () => {
    const { saved, reply, effects, changed } = play(issued(), wrong())
    expect(saved.value).to.equal('pending')
    expect(reply).to.deep.equal({ kind: 'verified', status: 'pending', matched: false, attempts_left: 4, token: false })
    expect(effects).to.deep.equal([])
    expect(changed, 'a wrong code is always saved').to.equal(true)
    expect(play(issued(), wrong({ by: device })).reply).to.include({ matched: false, token: false })
  })

  it('fails the verification on the last attempt, with one webhook event', () => {
    const { saved, reply, effects, events, dueAt } = play(
      issued(),
      wrong(),
      wrong(),
      wrong(),
      wrong(),
      wrong({ event_id: 'evt_failed' }),
    )
    expect(saved.value).to.equal('failed')
    expect(reply).to.deep.equal({ kind: 'verified', status: 'failed', matched: false, attempts_left: 0, token: false })
    expect(effects).to.deep.equal([
      { type: 'notify', id: 'evt_failed', event: 'otp.failed', payload: { otp_id: 'otp_1', status: 'failed' } },
    ])
    expect(events).to.deep.equal(['otp.failed'])
    expect(dueAt).to.equal(null)
  })

  it('fails the verification the fifth time, even with resends in between', () => {
    const { saved, effects } = play(issued(), wrong(), resend(), wrong(), resend('telegram'), wrong(), wrong(), wrong())
    expect(saved.value).to.equal('failed')
    expect(effects.map(({ type }) => type)).to.deep.equal(['notify'])
  })
})

describe('verify', () => {
  const refusedAs = (error: string, more = {}) => ({ kind: 'refused', error, ...more })

  it('is refused to a server key when a device started the verification', () => {
    const { saved, reply, changed } = play(issued({ started_by: device }), right({ by: server }))
    expect(reply).to.deep.equal(refusedAs('VerifyNotAllowedError', { cause: 'proved_by_exchange' }))
    expect(changed).to.equal(false)
    expect(saved.value).to.equal('pending')
  })

  it('is refused in link_inbound, where a message approves, and allowed in link_code', () => {
    const inbound = issued({ order: ['whatsapp', 'sms'], whatsapp: 'link_inbound' })
    expect(play(inbound, right()).reply).to.deep.equal(
      refusedAs('VerifyNotAllowedError', { cause: 'approved_by_message' }),
    )
    expect(play(inbound, wrong()).saved.context.wrong_codes).to.equal(0)
    const linked = issued({ order: ['whatsapp', 'sms'], whatsapp: 'link_code' })
    expect(play(linked, message(), right()).saved.value).to.equal('approved')
  })

  it('is refused while the recipient is locked, with the time left and without counting the code', () => {
    const { reply, changed } = play(issued(), wrong(), right({ locked_ms: 90_000 }))
    expect(reply).to.deep.equal(refusedAs('RateLimitExceededError', { retry_after_ms: 90_000 }))
    expect(changed).to.equal(false)
    expect(play(issued(), wrong(), wrong({ locked_ms: 1 })).saved.context.wrong_codes).to.equal(1)
  })

  it('is never refused by the lock for the first code, which is compared and counted', () => {
    expect(play(issued(), right({ locked_ms: 1 })).reply).to.include({ status: 'approved', matched: true })
    const guessed = play(issued(), wrong({ locked_ms: 1 }))
    expect(guessed.reply).to.include({ status: 'pending', matched: false, attempts_left: 4 })
    for (const code of [right, wrong])
      expect(play(guessed.saved, code({ locked_ms: 1 })).reply).to.include({ error: 'RateLimitExceededError' })
  })

  it('is refused by the lock for the second code also after a resend with a fresh code', () => {
    const { reply } = play(issued(), wrong({ locked_ms: 1 }), resend('telegram'), right({ locked_ms: 1 }))
    expect(reply).to.include({ error: 'RateLimitExceededError' })
  })

  it('is refused by the first of these checks: kind of key, expiry, link_inbound, lock', () => {
    const late = T0 + 10 * MINUTE
    const inbound = { order: ['whatsapp'] as const, whatsapp: 'link_inbound' as const }
    const everythingWrong = { by: server, at: late, locked_ms: 1 }
    const errors = [
      play(issued({ ...inbound, order: [...inbound.order], started_by: device }), wrong(everythingWrong)),
      play(issued({ ...inbound, order: [...inbound.order] }), wrong(everythingWrong)),
      play(issued({ ...inbound, order: [...inbound.order] }), wrong({ locked_ms: 1 })),
      play(issued(), wrong(), wrong({ locked_ms: 1 })),
    ].map(({ reply }) => (reply.kind === 'refused' ? reply.error : reply.kind))
    expect(errors).to.deep.equal([
      'VerifyNotAllowedError',
      'OtpExpiredError',
      'VerifyNotAllowedError',
      'RateLimitExceededError',
    ])
  })
})
