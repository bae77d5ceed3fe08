import { expect } from 'chai'
import { mayChange, type Progress } from '../../../../services/dashboard/web/screens/try/progress.ts'

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
})
