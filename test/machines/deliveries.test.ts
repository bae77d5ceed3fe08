import { expect } from 'chai'
import type { ReportedStatus } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { cancel, issued, lapse, play, reported, resend, right, T0, wait, wrong } from '../support/otp.ts'

const statuses = ({ context }: SavedOtp) => context.deliveries.map(({ status }) => status)
const noted = { kind: 'noted', changed: true }
const nothingNew = { kind: 'noted', changed: false }

describe('a report on a delivery', () => {
  it('with status sent is recorded and causes no webhook event', () => {
    const { saved, reply, effects } = play(issued(), wait(2_000), reported('sent'))
    expect(saved.context.deliveries[0]).to.include({ status: 'sent', created_at: T0, updated_at: T0 + 2_000 })
    expect(reply).to.deep.equal(noted)
    expect(effects).to.deep.equal([])
  })

  for (const status of ['delivered', 'failed'] as const)
    it(`with status ${status} is recorded and causes a webhook event`, () => {
      const free = issued({ prices: {} })
      const { saved, reply, effects } = play(free, reported('sent'), reported(status, { event_id: 'evt_receipt' }))
      expect(statuses(saved)).to.deep.equal([status])
      expect(reply).to.deep.equal(noted)
      expect(effects).to.deep.equal([
        {
          type: 'notify',
          id: 'evt_receipt',
          event: `delivery.${status}`,
          payload: { otp_id: 'otp_1', delivery_id: 'dlv_1', status },
        },
      ])
      expect(saved.value).to.equal('pending')
    })

  const inEveryOrder: [ReportedStatus[], string, string[]][] = [
    [['sent', 'delivered', 'delivered'], 'delivered', ['delivery.delivered']],
    [['delivered', 'sent', 'failed', 'delivered'], 'delivered', ['delivery.delivered']],
    [['sent', 'failed', 'failed'], 'failed', ['delivery.failed']],
    [['failed', 'delivered', 'sent', 'failed'], 'failed', ['delivery.failed']],
  ]
  for (const [reports, end, fired] of inEveryOrder)
    it(`ends ${end} after ${reports.join(', ')}, with ${fired.length === 0 ? 'no webhook event' : 'one webhook event'}`, () => {
      const { saved, events } = play(issued(), ...reports.map(status => reported(status)))
      expect(statuses(saved)).to.deep.equal([end])
      expect(events).to.deep.equal(fired)
    })

  it('with status failed says why, and which words the vendor had for it', () => {
    const said = { reason: 'recipient_unreachable', vendor_code: '30005', vendor_text: 'Unknown handset' } as const
    const { saved } = play(issued(), reported('sent', { provider: 'main' }), reported('failed', said))
    expect(saved.context.deliveries[0]).to.include({ status: 'failed', provider: 'main', ...said })
  })

  it('with another status has no reason, even if it gives one', () => {
    for (const status of ['sent', 'delivered'] as const) {
      const { saved } = play(issued(), reported(status, { reason: 'no_answer', vendor_code: '1', vendor_text: 'x' }))
      expect(saved.context.deliveries[0]).to.not.have.any.keys('reason', 'vendor_code', 'vendor_text')
    }
  })

  it('keeps the first reason: a second failure, and a failure after the message arrived, change nothing', () => {
    const first = reported('failed', { reason: 'no_answer' })
    const again = play(issued(), first, reported('failed', { reason: 'recipient_unreachable', provider: 'b' }))
    expect(again.changed).to.equal(false)
    expect(again.saved.context.deliveries[0]).to.include({ reason: 'no_answer' }).and.not.have.property('provider')
    const arrived = play(issued(), reported('delivered', { provider: 'a' }), first)
    expect(arrived.saved.context.deliveries[0]).to.include({ provider: 'a' }).and.not.have.property('reason')
  })

  it('names the provider that delivered the message, although another one had taken it too', () => {
    const { saved } = play(issued(), reported('sent', { provider: 'b' }), reported('delivered', { provider: 'a' }))
    expect(saved.context.deliveries[0]).to.include({ provider: 'a' })
  })

  it('that repeats the known status is not saved', () => {
    const { reply, changed, saved } = play(issued(), reported('delivered'), wait(9_000), reported('delivered'))
    expect(reply).to.deep.equal(nothingNew)
    expect(changed).to.equal(false)
    expect(saved.context.deliveries[0]?.updated_at).to.equal(T0)
  })

  it('changes nothing when the delivery is unknown', () => {
    const { reply, changed, effects } = play(issued(), reported('delivered', { delivery_id: 'dlv_unknown' }))
    expect(reply).to.deep.equal(nothingNew)
    expect({ changed, effects }).to.deep.equal({ changed: false, effects: [] })
  })

  it('on an earlier delivery changes only that delivery', () => {
    const { saved, effects } = play(issued(), resend(), reported('delivered', { delivery_id: 'dlv_1' }))
    expect(statuses(saved)).to.deep.equal(['delivered', 'queued'])
    expect(effects).to.have.length(1)
  })

  it('on a delivery of an earlier generation is recorded with its webhook event', () => {
    const { saved, events } = play(issued(), resend('telegram'), reported('failed', { delivery_id: 'dlv_1' }))
    expect(statuses(saved)).to.deep.equal(['failed', 'queued'])
    expect(events).to.deep.equal(['delivery.failed'])
  })
})

describe('a report on a delivery after the verification has ended', () => {
  const ended: [string, SavedOtp][] = [
    ['approved', play(issued(), right()).saved],
    ['failed', play(issued({ rules: { verify_attempts: 1 } }), wrong()).saved],
    ['canceled', play(issued(), cancel()).saved],
    ['expired', play(issued(), lapse()).saved],
  ]
  it('is recorded with one webhook event, and the state stays what it was', () => {
    for (const [value, saved] of ended) {
      const after = play(saved, reported('sent'), reported('delivered'), reported('failed'))
      expect(after.saved.value).to.equal(value)
      expect(statuses(after.saved)).to.deep.equal(['delivered'])
      expect([after.events, after.reply]).to.deep.equal([['delivery.delivered'], nothingNew])
    }
  })

  it('is recorded when the verification has expired and was not swept yet', () => {
    const { saved, events } = play(issued(), reported('delivered', { at: T0 + 11 * 60_000 }))
    expect(statuses(saved)).to.deep.equal(['delivered'])
    expect(events).to.deep.equal(['delivery.delivered'])
  })
})
