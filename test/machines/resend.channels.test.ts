import { expect } from 'chai'
import type { Channel } from '../../machines/channels.ts'
import { issued, play, resend } from '../support/otp.ts'

const refused = { kind: 'refused', error: 'ResendNotAllowedError' }
const notAllowed = { ...refused, cause: 'no_usable_channel' }
const channelAfter = (...moves: Parameters<typeof play>[1][]) => play(issued(), ...moves).saved.context.channel

describe('a resend that names a channel', () => {
  it('moves the verification to that channel with a new code', () => {
    const { saved, reply, effects } = play(issued(), resend('telegram'))
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(saved.context).to.include({ channel: 'telegram', generation: 2, sends: 2 })
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_2', channel: 'telegram', generation: 2 }])
  })

  it('makes a new code also on the current channel', () => {
    const { saved, effects } = play(issued(), resend('sms'))
    expect(saved.context).to.deep.include({ channel: 'sms', generation: 2, tried: ['sms'] })
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_2', channel: 'sms', generation: 2 }])
  })

  it('can name a channel outside the order', () => {
    const { saved } = play(issued({ order: ['sms'] }), resend('telegram'))
    expect(saved.context).to.deep.include({ channel: 'telegram', order: ['sms'], tried: ['sms', 'telegram'] })
  })

  it('is refused with the obstacle of that channel as the cause', () => {
    const obstacles = ['disabled', 'no_provider', 'no_business_number', 'not_provable_by_device'] as const
    for (const obstacle of obstacles) {
      const { reply } = play(issued(), resend('whatsapp', { usable: ['sms', 'telegram'], obstacle }))
      expect(reply).to.deep.equal({ ...refused, cause: `channel_${obstacle}`, channel: 'whatsapp' })
    }
  })
})

describe('a resend without a named channel', () => {
  it('goes from a named channel to the next one after it, and from the last one, if that was disabled, back to a usable one', () => {
    expect(channelAfter(resend(), resend(), resend('sms'), resend())).to.equal('whatsapp')
    expect(channelAfter(resend(), resend(), resend(null, { usable: ['sms', 'whatsapp'] }))).to.equal('whatsapp')
  })

  it('goes from a named channel outside the order to the first channel that was not tried', () => {
    const start = issued({ order: ['sms', 'whatsapp'] })
    expect(play(start, resend('telegram'), resend()).saved.context.channel).to.equal('whatsapp')
  })

  it('goes from outside the order to its last channel when all were tried', () => {
    const start = issued({ order: ['sms', 'whatsapp'] })
    expect(play(start, resend(), resend('telegram'), resend()).saved.context.channel).to.equal('whatsapp')
  })

  it('repeats a channel outside the order when no channel of the order is usable any more', () => {
    const moved = play(issued({ order: ['sms'] }), resend('telegram')).saved
    const { saved, reply } = play(moved, resend(null, { usable: ['telegram'] }))
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(saved.context).to.include({ channel: 'telegram', generation: 2 })
    expect(play(moved, resend(null, { usable: ['email'] })).reply).to.deep.equal(notAllowed)
  })

  const disabled: [string, Channel[], Channel][] = [
    ['goes to the one after the next when the next was disabled', ['sms', 'telegram'], 'telegram'],
    ['repeats the last usable one when all later ones were disabled', ['sms'], 'sms'],
    ['goes to the next one when the current one was disabled', ['whatsapp', 'telegram'], 'whatsapp'],
  ]
  for (const [what, usable, channel] of disabled)
    it(what, () => {
      expect(channelAfter(resend(null, { usable }))).to.equal(channel)
    })

  it('never goes to a channel outside the order', () => {
    const { reply, saved } = play(issued({ order: ['sms'] }), resend(null, { usable: ['telegram'] }))
    expect(reply).to.deep.equal(notAllowed)
    expect(saved.context.channel).to.equal('sms')
  })

  it('goes to the same email address again', () => {
    const usable: Channel[] = ['email']
    const start = issued({ order: ['sms', 'email'], channel: 'email' })
    expect(play(start, resend(null, { usable })).saved.context).to.include({ channel: 'email', generation: 1 })
  })
})
