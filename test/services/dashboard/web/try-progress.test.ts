import { expect } from 'chai'
import {
  attemptsLeft,
  eventDelivery,
  mayChange,
  type Progress,
  textInLink,
} from '../../../../services/dashboard/web/screens/try/progress.ts'

const NOW = 1_000_000

const progress = (status: string, deliveries: string[], events: [type: string, status: string][]): Progress =>
  ({
    verification: { status, deliveries: deliveries.map(one => ({ status: one })) },
    messages: [],
    events: events.map(([type, state]) => ({ type, status: state })),
  }) as unknown as Progress

describe('a verification that is watched', () => {
  it('may change while it is pending', () => {
    expect(mayChange(progress('pending', ['delivered'], []), null, NOW)).to.equal(true)
  })

  it('may change until its last event has arrived and was sent', () => {
    const approved = (events: [string, string][]) => mayChange(progress('approved', ['delivered'], events), NOW, NOW)
    expect(approved([])).to.equal(true)
    expect(approved([['otp.approved', 'pending']])).to.equal(true)
    expect(approved([['otp.approved', 'delivered']])).to.equal(false)
    expect(approved([['otp.approved', 'unsent']])).to.equal(false)
  })

  it('may change until a receipt has come, but is not waited for longer than a minute', () => {
    const silent = progress('approved', ['sent'], [['otp.approved', 'unsent']])
    expect(mayChange(silent, NOW, NOW + 59_000)).to.equal(true)
    expect(mayChange(silent, NOW, NOW + 61_000)).to.equal(false)
  })

  it('has no event to wait for when it was canceled or has expired', () => {
    expect(mayChange(progress('expired', ['delivered'], []), NOW, NOW)).to.equal(false)
  })
})

describe('what became of it, in words', () => {
  it('counts attempts', () => {
    expect([2, 1, 0].map(attemptsLeft)).to.deep.equal([
      '2 attempts are left.',
      '1 attempt is left.',
      'No attempts are left.',
    ])
  })

  it('says what became of an event', () => {
    const attempt = { at: '', round: 1, attempt: 1, ms: 12, status: 200, error: null, response: '' }
    const unanswered = { ...attempt, status: null, error: 'timeout' }
    expect(eventDelivery({ status: 'unsent', attempts: [] })).to.equal(
      'No endpoint asked for it when it happened, or its endpoint was deleted.',
    )
    expect(eventDelivery({ status: 'pending', attempts: [] })).to.equal('On its way.')
    expect(eventDelivery({ status: 'delivered', attempts: [attempt] })).to.equal('Your endpoint answered 200 in 12 ms.')
    expect(eventDelivery({ status: 'pending', attempts: [unanswered] })).to.equal(
      'Attempt 1 got no answer (timeout). It is tried again.',
    )
    expect(eventDelivery({ status: 'failed', attempts: [{ ...attempt, status: 500 }] })).to.equal(
      'Given up: the last attempt was answered 500.',
    )
    expect(eventDelivery({ status: 'held', attempts: [] })).to.equal('Held until the endpoint is re-enabled.')
  })

  it("finds the message in a link into the user's chat", () => {
    expect(textInLink('https://wa.me/15550001111?text=Send%20me%0Athe%20code')).to.equal('Send me\nthe code')
  })
})
