import { expect } from 'chai'
import type { Channel } from '../../machines/channels.ts'
import { issued, play, resend, right, T0 } from '../support/otp.ts'

const notAllowed = { kind: 'refused', error: 'ResendNotAllowedError' }
const onto = (...moves: Parameters<typeof play>[1][]) => play(issued(), ...moves).saved.context.channel

describe('a named channel', () => {
  it('takes the verification there with a fresh code', () => {
    const { saved, reply, effects } = play(issued(), resend('telegram'))
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(saved.context).to.include({ channel: 'telegram', generation: 2, sends: 2 })
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_2', channel: 'telegram', generation: 2 }])
  })

  it('means a fresh code also when it is the current one', () => {
    const { saved, effects } = play(issued(), resend('sms'))
    expect(saved.context).to.deep.include({ channel: 'sms', generation: 2, tried: ['sms'] })
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_2', channel: 'sms', generation: 2 }])
  })

  it('may lie outside the order', () => {
    const { saved } = play(issued({ order: ['sms'] }), resend('telegram'))
    expect(saved.context).to.deep.include({ channel: 'telegram', order: ['sms'], tried: ['sms', 'telegram'] })
  })

  it('is refused when it is not usable, whatever else is', () => {
    const { reply, changed } = play(issued(), resend('email'))
    expect(reply).to.deep.equal(notAllowed)
    expect(changed).to.equal(false)
    expect(play(issued(), resend('sms', { usable: ['whatsapp', 'telegram'] })).reply).to.deep.equal(notAllowed)
  })

  it('gives one fresh code each time', () => {
    const { saved } = play(issued(), resend('sms'), resend(), resend('telegram'))
    expect(saved.context.generation).to.equal(3)
    expect(saved.context.deliveries.map(({ generation }) => generation)).to.deep.equal([1, 2, 2, 3])
  })
})

describe('where a plain resend goes', () => {
  it('from a named channel inside the order: the next one after it', () => {
    expect(onto(resend(), resend(), resend('sms'), resend())).to.equal('whatsapp')
  })

  it('from a named channel outside the order: the first not tried yet', () => {
    const start = issued({ order: ['sms', 'whatsapp'] })
    expect(play(start, resend('telegram'), resend()).saved.context.channel).to.equal('whatsapp')
  })

  it('from outside the order with all of it tried: the last of the order again', () => {
    const start = issued({ order: ['sms', 'whatsapp'] })
    expect(play(start, resend(), resend('telegram'), resend()).saved.context.channel).to.equal('whatsapp')
  })

  it('from outside the order with none of it usable any more: the same channel again', () => {
    const moved = play(issued({ order: ['sms'] }), resend('telegram')).saved
    const { saved, reply } = play(moved, resend(null, { usable: ['telegram'] }))
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(saved.context).to.include({ channel: 'telegram', generation: 2 })
    expect(play(moved, resend(null, { usable: ['email'] })).reply).to.deep.equal(notAllowed)
  })

  it('keeps the fresh code of the named channel', () => {
    const { saved } = play(issued(), resend('whatsapp'), resend())
    expect(saved.context).to.include({ channel: 'telegram', generation: 2 })
  })

  const disabled: [string, Channel[], Channel][] = [
    ['the next one: the one after it', ['sms', 'telegram'], 'telegram'],
    ['every later one: the last usable again', ['sms'], 'sms'],
    ['the current one: the next all the same', ['whatsapp', 'telegram'], 'whatsapp'],
  ]
  for (const [what, usable, channel] of disabled)
    it(`with a channel disabled in between, ${what}`, () => {
      expect(onto(resend(null, { usable }))).to.equal(channel)
    })

  it('with the last and current channel disabled in between: back to the last that is usable', () => {
    expect(onto(resend(), resend(), resend(null, { usable: ['sms', 'whatsapp'] }))).to.equal('whatsapp')
  })

  it('never outside the order, however usable', () => {
    const { reply, saved } = play(issued({ order: ['sms'] }), resend(null, { usable: ['telegram'] }))
    expect(reply).to.deep.equal(notAllowed)
    expect(saved.context.channel).to.equal('sms')
  })

  it('for an email address: the same address again', () => {
    const usable: Channel[] = ['email']
    const start = issued({ order: ['sms', 'email'], channel: 'email' })
    expect(play(start, resend(null, { usable })).saved.context).to.include({ channel: 'email', generation: 1 })
  })
})

describe('the code after a resend', () => {
  it('lives as long again, from the resend on', () => {
    const { saved, dueAt } = play(issued(), resend(null, { at: T0 + 45_000 }))
    expect(saved.context.expires_at).to.equal(T0 + 45_000 + 600_000)
    expect(dueAt).to.equal(saved.context.expires_at)
  })

  it('approves on the channel the verification is on', () => {
    expect(play(issued(), resend(), right()).saved.context.approval).to.include({ channel: 'whatsapp', generation: 1 })
  })
})
