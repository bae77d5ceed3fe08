import { expect } from 'chai'
import {
  cancel,
  device,
  exchange,
  issued,
  lapse,
  MINUTE,
  message,
  play,
  right,
  server,
  T0,
  wait,
  wrong,
} from '../support/otp.ts'

const exchanged = { kind: 'exchanged' }
const noSuchToken = { kind: 'no_such_token' }
const approvedByDevice = () => play(issued({ started_by: device }), wait(MINUTE), right({ by: device })).saved
const APPROVED_AT = T0 + MINUTE

describe("exchanging a device's token", () => {
  it('is saved with the key that did it', () => {
    const { saved, reply, effects, changed } = play(approvedByDevice(), wait(5_000), exchange())
    expect(reply).to.deep.equal(exchanged)
    expect(saved.context.exchange).to.deep.equal({ key_id: server.key_id, at: APPROVED_AT + 5_000 })
    expect(effects).to.deep.equal([])
    expect(changed).to.equal(true)
  })

  it('succeeds again for the same key and writes nothing', () => {
    const once = play(approvedByDevice(), exchange()).saved
    const { reply, saved, changed } = play(once, wait(MINUTE), exchange())
    expect(reply).to.deep.equal(exchanged)
    expect(changed).to.equal(false)
    expect(saved).to.equal(once)
  })

  it('is allowed to any key of the app, and refused to every other one once the token was exchanged', () => {
    const { reply, changed } = play(approvedByDevice(), exchange(), exchange({ key_id: 'key_other' }))
    expect(reply).to.deep.equal(noSuchToken)
    expect(changed).to.equal(false)
    expect(play(approvedByDevice(), exchange({ key_id: 'key_other' })).reply).to.deep.equal(exchanged)
  })

  it('is refused once the token has expired, the first time and on a retry, which does not prolong its lifetime', () => {
    const end = APPROVED_AT + 10 * MINUTE
    expect(play(approvedByDevice(), exchange({ at: end - 1 })).reply).to.deep.equal(exchanged)
    expect(play(approvedByDevice(), exchange({ at: end })).reply).to.deep.equal(noSuchToken)
    const once = play(approvedByDevice(), exchange({ at: end - MINUTE })).saved
    expect(play(once, exchange({ at: end - 1 })).reply).to.deep.equal(exchanged)
    expect(play(once, exchange({ at: end })).reply).to.deep.equal(noSuchToken)
  })

  it('is allowed after the code has expired, because the token has a lifetime of its own', () => {
    const late = play(issued({ started_by: device }), right({ by: device, at: T0 + 9 * MINUTE })).saved
    expect(play(late, exchange({ at: T0 + 15 * MINUTE })).reply).to.deep.equal(exchanged)
  })

  it('is refused for a forged token', () => {
    expect(play(approvedByDevice(), exchange({ genuine: false })).reply).to.deep.equal(noSuchToken)
    expect(play(approvedByDevice(), exchange(), exchange({ genuine: false })).reply, 'exchanged before').to.deep.equal(
      noSuchToken,
    )
  })

  it('is allowed whoever started the verification, if a device entered the code', () => {
    expect(play(issued(), right({ by: device }), exchange()).reply).to.deep.equal(exchanged)
    const inbound = issued({ order: ['whatsapp'], whatsapp: 'link_inbound' })
    expect(play(issued(), right({ by: server }), exchange()).reply).to.deep.equal(noSuchToken)
    expect(play(inbound, message(), exchange()).reply).to.deep.equal(noSuchToken)
  })

  it('gets the same refusal in every other state', () => {
    const started_by = device
    const others = [
      issued({ started_by }),
      play(issued({ started_by, rules: { verify_attempts: 1 } }), wrong({ by: device })).saved,
      play(issued({ started_by }), cancel()).saved,
      play(issued({ started_by }), lapse()).saved,
    ]
    for (const saved of others) {
      const { reply, changed } = play(saved, exchange())
      expect(reply, saved.value).to.deep.equal(noSuchToken)
      expect(changed).to.equal(false)
    }
  })

  it('ends the repeating of the verify, because its reply has arrived', () => {
    const { reply } = play(approvedByDevice(), exchange(), right({ by: device }))
    expect(reply).to.include({ error: 'OtpNotPendingError', otp_status: 'approved' })
  })
})
