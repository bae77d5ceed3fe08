import { expect } from 'chai'
import {
  cancel,
  issued,
  MINUTE,
  message,
  PRICES,
  play,
  reported,
  resend,
  right,
  type StartOptions,
  T0,
  wait,
  wrong,
} from '../support/otp.ts'

const nothingNew = { kind: 'noted', changed: false }
const noted = { kind: 'noted', changed: true }

describe("the user's message in link_inbound", () => {
  const linked = (options: StartOptions = {}) =>
    issued({ order: ['whatsapp', 'sms'], whatsapp: 'link_inbound', ...options })

  it('approves the verification with one webhook event', () => {
    const { saved, reply, effects } = play(linked(), wait(5_000), message('link_1', { event_id: 'evt_in' }))
    expect(saved.value).to.equal('approved')
    expect(reply).to.deep.equal(noted)
    expect(effects).to.deep.equal([
      { type: 'notify', id: 'evt_in', event: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } },
    ])
    expect(saved.context.approval).to.deep.equal({ at: T0 + 5_000, by: null, generation: 1, channel: 'whatsapp' })
  })

  it('approves once when it is sent repeatedly, and after the same link was resent', () => {
    const { reply, events, changed } = play(linked(), message(), message(), message())
    expect(reply).to.deep.equal(nothingNew)
    expect(changed).to.equal(false)
    expect(events).to.deep.equal(['otp.approved'])
    expect(play(linked(), resend(), message('link_1')).saved.value).to.equal('approved')
  })

  it("changes nothing when its reference is not that of the verification's current link", () => {
    for (const played of [
      play(linked(), message('someone else')),
      play(linked(), resend('whatsapp'), message('link_1')),
      play(linked(), resend('sms'), message('link_1')),
    ]) {
      expect(played.reply).to.deep.equal(nothingNew)
      expect(played.changed).to.equal(false)
      expect(played.saved.value).to.equal('pending')
    }
  })

  it('comes too late exactly from the expiry on', () => {
    expect(play(linked(), message('link_1', { at: T0 + 10 * MINUTE })).reply).to.deep.equal(nothingNew)
    expect(play(linked(), message('link_1', { at: T0 + 10 * MINUTE - 1 })).saved.value).to.equal('approved')
  })
})

describe("the user's message in link_code", () => {
  const linked = (options: StartOptions = {}) =>
    issued({ order: ['whatsapp', 'sms'], whatsapp: 'link_code', ...options })

  describe('whose answer could not be paid', () => {
    const linked = () => issued({ order: ['whatsapp', 'sms'], whatsapp: 'link_code' })
    const unpaid = { unpaid: { event_id: 'evt_unpaid' } }

    it('is recorded once as a delivery that failed, however often the user writes', () => {
      const played = play(linked(), message(undefined, unpaid), message(undefined, unpaid), message(undefined, unpaid))
      expect(played.reply).to.deep.equal(nothingNew)
      expect(played.events).to.deep.equal(['delivery.failed'])
      expect(played.saved.context.deliveries).to.have.length(1)
      expect(played.saved.context.deliveries[0]).to.include({
        channel: 'whatsapp',
        status: 'failed',
        reason: 'insufficient_funds',
        micros: 0,
      })
    })

    it('is answered with the code once there is money, and that first answer costs no send', () => {
      const { saved } = play(linked(), message(undefined, unpaid), message())
      expect(saved.context.deliveries.map(({ status }) => status)).to.deep.equal(['failed', 'queued'])
      expect(saved.context.sends).to.equal(1)
    })
  })

  it('is answered with the code in the chat, and does not cost another send attempt', () => {
    const { saved, reply, effects } = play(linked(), message())
    expect(reply).to.deep.equal(noted)
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_1', channel: 'whatsapp', generation: 1 }])
    expect(saved.value).to.equal('pending')
    expect(saved.context).to.include({ sends: 1, last_sent_at: T0, expires_at: T0 + 10 * MINUTE })
    expect(saved.context.deliveries).to.have.length(1)
  })

  it('is answered again when repeated, for one send attempt each', () => {
    const { saved, steps } = play(linked({ rules: { send_attempts: 3 } }), message(), message(), message(), message())
    expect(steps.map(({ effects }) => effects.length)).to.deep.equal([1, 1, 1, 0])
    expect(steps.at(-1)?.reply).to.deep.equal(nothingNew)
    expect(saved.context).to.include({ sends: 3, generation: 1 })
    expect(saved.context.deliveries.map(({ delivery_id }) => delivery_id)).to.deep.equal(['dlv_1', 'dlv_2', 'dlv_3'])
  })

  it('is answered the first time even when resending the link has used up all send attempts', () => {
    const spent = play(linked({ rules: { send_attempts: 2 } }), resend()).saved
    const { saved, effects } = play(spent, message(), message())
    expect(saved.context).to.include({ sends: 2 })
    expect(saved.context.deliveries).to.have.length(1)
    expect(effects, 'the repeat').to.deep.equal([])
  })

  it('is answered on a new link without counting the answers of the earlier generation', () => {
    const { saved, effects } = play(linked({ rules: { send_attempts: 2 } }), message(), resend('whatsapp'), message())
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_2', channel: 'whatsapp', generation: 2 }])
    expect(saved.context.sends).to.equal(2)
  })

  it('does not approve the verification, which still needs the code', () => {
    const { saved, events } = play(linked(), message(), wrong(), right())
    expect(saved.value).to.equal('approved')
    expect(events).to.deep.equal(['otp.approved'])
  })

  it('is not answered with an old reference, after the expiry, or after the end', () => {
    const late = { at: T0 + 10 * MINUTE }
    for (const played of [
      play(linked(), resend('whatsapp'), message('link_1')),
      play(linked(), message('link_1', late)),
      play(linked(), right(), message('link_1')),
      play(linked(), cancel(), message('link_1')),
    ]) {
      expect(played.reply).to.deep.equal(nothingNew)
      expect(played.effects).to.deep.equal([])
      expect(played.saved.context.deliveries).to.deep.equal([])
    }
  })
})

describe("the user's message without a link", () => {
  it('changes nothing', () => {
    const { reply, changed } = play(issued(), message('link_1'))
    expect(reply).to.deep.equal(nothingNew)
    expect(changed).to.equal(false)
  })
})

describe('the message of a user who hides their number', () => {
  const linked = (whatsapp: 'link_code' | 'link_inbound', options: StartOptions = {}) =>
    issued({ order: ['whatsapp', 'sms'], whatsapp, ...options })
  const hidden = (options = {}) => message(undefined, { writer: 'sealed user', ...options })

  for (const mode of ['link_inbound', 'link_code'] as const)
    it(`is answered in ${mode} with a request for the number, which is a reply without the code`, () => {
      const { saved, reply, effects, events } = play(linked(mode), hidden())
      expect(reply).to.deep.equal(noted)
      expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_1', channel: 'whatsapp', generation: 1 }])
      expect(events).to.deep.equal([])
      expect(saved.value).to.equal('pending')
      expect(saved.context).to.include({ sends: 1, approval: null })
      expect(saved.context.deliveries[0]).to.include({ writer: 'sealed user', micros: PRICES.reply })
    })

  it('is followed by the approval, or by a first answer that costs no send, once the number is known', () => {
    expect(play(linked('link_inbound'), hidden(), message()).saved.value).to.equal('approved')
    const { saved } = play(linked('link_code'), hidden(), message())
    expect(saved.context.sends).to.equal(1)
    expect(saved.context.deliveries.map(({ writer }) => writer)).to.deep.equal(['sealed user', undefined])
  })

  it('is answered again for one send attempt each', () => {
    const { saved, steps } = play(linked('link_inbound', { rules: { send_attempts: 2 } }), hidden(), hidden(), hidden())
    expect(steps.map(({ effects }) => effects.length)).to.deep.equal([1, 1, 0])
    expect(saved.context.sends).to.equal(2)
  })

  it('is recorded once where its answer cannot be paid', () => {
    const unpaid = { unpaid: { event_id: 'evt_unpaid' } }
    const { saved, events } = play(linked('link_inbound'), hidden(unpaid), hidden(unpaid))
    expect(events).to.deep.equal(['delivery.failed'])
    expect(saved.context.deliveries.map(({ reason }) => reason)).to.deep.equal(['insufficient_funds'])
  })

  it('leads to no fallback and no event where the request fails, which is refunded even after an approval by code', () => {
    const failing = reported('failed', { delivery_id: 'dlv_1', provider: 'meta' })
    const link = linked('link_code', { rules: { auto_fallback: true } })
    const refund = { type: 'refund', id: 'dlv_1:refund', delivery_id: 'dlv_1', micros: PRICES.reply }
    expect(play(link, hidden(), failing).effects).to.deep.equal([refund])
    expect(play(link, hidden(), message(), right(), failing).effects).to.deep.equal([refund])
    expect(play(link, hidden(), failing, message(), right()).effects.map(({ type }) => type)).to.deep.equal(['notify'])
  })
})
