import { expect } from 'chai'
import type { ReportedStatus } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { cancel, issued, lapse, play, reported, resend, right, T0, wait, wrong } from '../support/otp.ts'

const statuses = ({ context }: SavedOtp) => context.deliveries.map(({ status }) => status)
const noted = { kind: 'noted', changed: true }
const nothingNew = { kind: 'noted', changed: false }

describe('a report on a delivery', () => {
  it('sent: is recorded, and is no event', () => {
    const { saved, reply, effects } = play(issued(), wait(2_000), reported('sent'))
    expect(saved.context.deliveries[0]).to.include({ status: 'sent', created_at: T0, updated_at: T0 + 2_000 })
    expect(reply).to.deep.equal(noted)
    expect(effects).to.deep.equal([])
  })

  for (const status of ['delivered', 'failed'] as const)
    it(`${status}: is recorded, with its event`, () => {
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
    [['delivered'], 'delivered', ['delivery.delivered']],
    [['delivered', 'sent'], 'delivered', ['delivery.delivered']],
    [['failed', 'sent'], 'failed', ['delivery.failed']],
    [['sent', 'sent'], 'sent', []],
    [['sent', 'delivered', 'delivered'], 'delivered', ['delivery.delivered']],
    [['sent', 'delivered', 'failed'], 'delivered', ['delivery.delivered']],
    [['delivered', 'sent', 'failed', 'delivered'], 'delivered', ['delivery.delivered']],
    [['sent', 'failed', 'failed'], 'failed', ['delivery.failed']],
    [['failed', 'delivered'], 'failed', ['delivery.failed']],
    [['failed', 'delivered', 'sent', 'failed'], 'failed', ['delivery.failed']],
  ]
  for (const [reports, end, fired] of inEveryOrder)
    it(`${reports.join(', ')}: ends ${end}, with ${fired.length === 0 ? 'no event' : 'one event'}`, () => {
      const { saved, events } = play(issued(), ...reports.map(status => reported(status)))
      expect(statuses(saved)).to.deep.equal([end])
      expect(events).to.deep.equal(fired)
    })

  it('that says nothing new is answered so, and not written', () => {
    const { reply, changed, saved } = play(issued(), reported('delivered'), wait(9_000), reported('delivered'))
    expect(reply).to.deep.equal(nothingNew)
    expect(changed).to.equal(false)
    expect(saved.context.deliveries[0]?.updated_at).to.equal(T0)
  })

  it('of a delivery nobody knows changes nothing', () => {
    const { reply, changed, effects } = play(issued(), reported('delivered', { reported_id: 'dlv_unknown' }))
    expect(reply).to.deep.equal(nothingNew)
    expect({ changed, effects }).to.deep.equal({ changed: false, effects: [] })
  })

  it('of an earlier delivery touches that one only', () => {
    const { saved, effects } = play(issued(), resend(), reported('delivered', { reported_id: 'dlv_1' }))
    expect(statuses(saved)).to.deep.equal(['delivered', 'queued'])
    expect(effects).to.have.length(1)
  })

  it('of a superseded generation still counts: it was not sent, and fails with its event', () => {
    const { saved, events } = play(issued(), resend('telegram'), reported('failed', { reported_id: 'dlv_1' }))
    expect(statuses(saved)).to.deep.equal(['failed', 'queued'])
    expect(events).to.deep.equal(['delivery.failed'])
  })

  it('counts for each delivery of the verification', () => {
    const { events } = play(issued(), reported('failed'), resend(), reported('delivered'))
    expect(events).to.deep.equal(['delivery.failed', 'delivery.delivered'])
  })
})

describe('a report after the end', () => {
  const ended: [string, SavedOtp][] = [
    ['approved', play(issued(), right()).saved],
    ['failed', play(issued({ rules: { verify_attempts: 1 } }), wrong()).saved],
    ['canceled', play(issued(), cancel()).saved],
    ['expired', play(issued(), lapse()).saved],
  ]
  for (const [value, saved] of ended) {
    it(`of what ${value} is recorded with its event, and the state stays`, () => {
      const after = play(saved, reported('sent'), reported('delivered'))
      expect(after.saved.value).to.equal(value)
      expect(statuses(after.saved)).to.deep.equal(['delivered'])
      expect(after.events).to.deep.equal(['delivery.delivered'])
    })

    it(`of what ${value} fires once`, () => {
      const after = play(saved, reported('failed'), reported('failed'), reported('delivered'))
      expect(after.reply).to.deep.equal(nothingNew)
      expect(after.events).to.deep.equal(['delivery.failed'])
    })
  }

  it('of what lapsed and was not swept yet is recorded too', () => {
    const { saved, events } = play(issued(), reported('delivered', { at: T0 + 11 * 60_000 }))
    expect(statuses(saved)).to.deep.equal(['delivered'])
    expect(events).to.deep.equal(['delivery.delivered'])
  })
})
