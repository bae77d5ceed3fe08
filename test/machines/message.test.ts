// The rows of a message: the delivery of a code that its caller made.
import { expect } from 'chai'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { messageView } from '../../machines/otp.view.ts'
import {
  cancel,
  exchange,
  issued,
  lapse,
  MINUTE,
  type Move,
  message,
  PRICES,
  play,
  reported,
  resend,
  right,
  type StartOptions,
  T0,
  wait,
} from '../support/otp.ts'

const ID = 'msg_1'

const accepted = (options: StartOptions = {}): SavedOtp =>
  issued({ otp_id: ID, code: { given: 'sealed code' }, ...options })
const withFallback = (options: StartOptions = {}): SavedOtp => accepted({ ...options, rules: { auto_fallback: true } })

const codeIn = ({ context }: SavedOtp): unknown => context.code

describe('a message', () => {
  it('is delivered like the first message of a verification', () => {
    const saved = accepted()
    expect(saved).to.include({ machine: 'message', value: 'pending' })
    expect(saved.context.deliveries).to.have.length(1)
    expect(codeIn(saved)).to.deep.equal({ given: 'sealed code' })
    expect(messageView(saved, T0)).to.include({ message_id: ID, status: 'pending', channel: 'sms' })
  })

  it('keeps its code while a provider has it', () => {
    const { saved, effects } = play(accepted(), reported('sent'))
    expect(saved.value).to.equal('pending')
    expect(codeIn(saved)).to.deep.equal({ given: 'sealed code' })
    expect(effects).to.deep.equal([])
  })

  it('ends with its receipt, erases the code and says its id twice', () => {
    const { saved, effects, dueAt } = play(accepted(), reported('sent'), reported('delivered', { event_id: 'evt_x' }))
    expect(saved.value).to.equal('delivered')
    expect(codeIn(saved)).to.deep.equal({ given: null })
    const told = play(issued({ otp_id: 'msg_1', code: { given: 'sealed', life_ms: 900_000 } }), reported('delivered'))
    expect(codeIn(told.saved), 'its text is read later').to.deep.equal({ given: null, life_ms: 900_000 })
    expect(dueAt).to.equal(null)
    expect(effects).to.deep.equal([
      {
        type: 'notify',
        id: 'evt_x',
        event: 'delivery.delivered',
        payload: { otp_id: ID, message_id: ID, delivery_id: 'dlv_1', status: 'delivered' },
      },
    ])
  })

  it('fails with its delivery, erases the code and gives the price back', () => {
    const { saved, effects } = play(accepted(), reported('failed'))
    expect(saved.value).to.equal('failed')
    expect(codeIn(saved)).to.deep.equal({ given: null })
    expect(effects.map(({ type }) => type)).to.deep.equal(['notify', 'refund'])
  })

  it('falls back to the next channel with the same code, and lives no longer for it', () => {
    const { saved, effects } = play(withFallback(), wait(4 * MINUTE), reported('failed'))
    expect(saved.value).to.equal('pending')
    expect(saved.context).to.include({ channel: 'whatsapp', expires_at: T0 + 10 * MINUTE })
    expect(codeIn(saved)).to.deep.equal({ given: 'sealed code' })
    expect(effects.map(({ type }) => type)).to.deep.equal(['deliver', 'notify', 'refund'])
  })

  it('fails when its fallback cannot be paid', () => {
    const { saved, events } = play(withFallback(), reported('failed', { unpaid: { event_id: 'evt_u' } }))
    expect(saved.value).to.equal('failed')
    expect(saved.context.deliveries.map(({ status }) => status)).to.deep.equal(['failed', 'failed'])
    expect(codeIn(saved)).to.deep.equal({ given: null })
    expect(events).to.deep.equal(['delivery.failed', 'delivery.failed'])
  })

  it('expires after its life without an event, and takes a late receipt', () => {
    const early = play(accepted(), lapse({ at: T0 + 10 * MINUTE - 1 }))
    expect(early.reply).to.deep.equal({ kind: 'noted', changed: false })
    const { saved, events } = play(accepted(), reported('sent'), lapse({ event_ids: { otp_1: 'evt_e' } }))
    expect(saved.value).to.equal('expired')
    expect(codeIn(saved)).to.deep.equal({ given: null })
    expect(events).to.deep.equal([])
    expect(play(saved, reported('delivered')).saved.value).to.equal('delivered')
    expect(play(saved, reported('failed')).effects.at(-1)).to.include({ type: 'refund', micros: PRICES.sms })
    expect(messageView(accepted(), T0 + 10 * MINUTE).status).to.equal('expired')
  })

  it('is canceled by an erasure while it is pending', () => {
    const { saved, events } = play(accepted(), cancel({ event_ids: { otp_1: 'evt_c' } }))
    expect(saved.value).to.equal('canceled')
    expect(codeIn(saved)).to.deep.equal({ given: null })
    expect(events).to.deep.equal([])
    expect(play(saved, cancel()).reply).to.deep.include({ error: 'OtpNotFoundError' })
  })

  it('has nothing to verify, to resend or to exchange, and no link', () => {
    const calls: [Move, object][] = [
      [right(), { kind: 'refused', error: 'OtpNotFoundError' }],
      [resend(), { kind: 'refused', error: 'OtpNotFoundError' }],
      [resend('whatsapp'), { kind: 'refused', error: 'OtpNotFoundError' }],
      [exchange(), { kind: 'no_such_token' }],
      [message('link_1'), { kind: 'noted', changed: false }],
    ]
    for (const [move, reply] of calls)
      for (const saved of [accepted(), play(accepted(), reported('delivered')).saved]) {
        const played = play(saved, move)
        expect(played.reply).to.deep.equal(reply)
        expect(played.changed).to.equal(false)
      }
  })

  it('changes nothing when a receipt comes twice or late', () => {
    const { saved } = play(accepted(), reported('delivered'))
    for (const status of ['sent', 'failed', 'delivered'] as const)
      expect(play(saved, reported(status)).changed, status).to.equal(false)
  })
})
