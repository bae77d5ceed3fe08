import { expect } from 'chai'
import type { Reply } from '../../machines/otp.ts'
import {
  cancel,
  device,
  exchange,
  issued,
  lapse,
  message,
  otherDevice,
  otherServer,
  play,
  right,
  server,
  wrong,
} from '../support/otp.ts'

const notPending = (otp_status: string): Reply =>
  ({ kind: 'refused', error: 'OtpNotPendingError', otp_status }) as Reply
const approvedBy = (by: typeof server) => play(issued({ started_by: by }), wrong(), right({ by })).saved

describe('verify after approval', () => {
  it('gives the same key the same answer, and changes nothing but the remembered commands', () => {
    const first = play(issued({ started_by: device }), right({ by: device }))
    const again = play(first.saved, right({ by: device, id: 'cmd_again' }))
    expect(again.reply).to.deep.equal(first.reply)
    expect(again.effects).to.deep.equal([])
    const { last_commands } = first.saved
    expect(again.saved).to.deep.equal({
      ...first.saved,
      last_commands: [...last_commands, { id: 'cmd_again', reply: first.reply }],
    })
  })

  it('is saved also when it is right, so that it loses the race with a wrong code compared at the same time', () => {
    expect(play(approvedBy(server), right()).changed).to.equal(true)
    expect(play(approvedBy(server), wrong()).changed).to.equal(true)
  })

  it('is refused to another key for any code, before the lock is checked, and costs no attempt', () => {
    for (const code of [right, wrong]) {
      const { reply, changed } = play(approvedBy(server), code({ by: otherServer }))
      expect(reply).to.deep.equal(notPending('approved'))
      expect(changed).to.equal(false)
    }
    expect(play(approvedBy(device), right({ by: otherDevice })).reply).to.deep.equal(notPending('approved'))
    expect(play(approvedBy(server), right({ by: otherServer, locked_ms: 1 })).reply).to.deep.equal(
      notPending('approved'),
    )
  })

  it('is refused even for the right code when no attempt is left, and counts no further', () => {
    const { saved, reply } = play(approvedBy(server), wrong(), wrong(), wrong(), wrong(), right())
    expect(reply).to.deep.equal(notPending('approved'))
    expect(saved.context.wrong_codes).to.equal(5)
    expect(play(saved, wrong()).saved.context.wrong_codes).to.equal(5)
    expect(saved.value, 'what was approved stays approved').to.equal('approved')
  })

  it('is refused to a server key when a device started the verification', () => {
    expect(play(approvedBy(device), right({ by: server })).reply).to.deep.equal({
      kind: 'refused',
      error: 'VerifyNotAllowedError',
      cause: 'proved_by_exchange',
    })
  })

  it('is refused when a message approved, because no key entered a code', () => {
    const inbound = play(issued({ order: ['whatsapp'], whatsapp: 'link_inbound' }), message()).saved
    expect(play(inbound, right()).reply).to.deep.equal(notPending('approved'))
  })

  it('is refused for any code once the token was exchanged, without costing an attempt, but not after an exchange that was refused', () => {
    const exchanged = play(approvedBy(device), exchange()).saved
    for (const code of [right, wrong])
      expect(play(exchanged, code({ by: device }))).to.deep.include({ reply: notPending('approved'), changed: false })
    const { saved } = play(approvedBy(device), exchange({ genuine: false }))
    expect(play(saved, right({ by: device })).reply).to.include({ matched: true, token: true })
  })

  it('gets its stored reply when its command is delivered again, however late and also after the exchange', () => {
    const first = play(issued({ started_by: device }), right({ by: device, id: 'cmd_first' }))
    const { saved } = play(first.saved, exchange())
    const again = play(saved, right({ by: device, id: 'cmd_first', at: saved.context.expires_at + 60_000 }))
    expect(again.reply).to.deep.equal(first.reply)
    expect(again.changed).to.equal(false)
  })
})

describe('verify after a failed, canceled or expired verification', () => {
  const failed = () => play(issued({ rules: { verify_attempts: 1 } }), wrong()).saved
  const canceled = () => play(issued(), cancel()).saved
  const expired = () => play(issued(), lapse()).saved

  it('is refused with the status of the verification', () => {
    expect(play(failed(), right()).reply).to.deep.equal(notPending('failed'))
    expect(play(canceled(), right()).reply).to.deep.equal(notPending('canceled'))
    expect(play(expired(), right()).reply).to.deep.equal({ kind: 'refused', error: 'OtpExpiredError' })
  })

  it('changes nothing and counts no wrong code', () => {
    for (const ended of [failed(), canceled(), expired()]) {
      const { saved, changed, effects } = play(ended, wrong(), right())
      expect(saved).to.equal(ended)
      expect(changed).to.equal(false)
      expect(effects).to.deep.equal([])
    }
  })

  it('checks the kind of key first in every state', () => {
    const started_by = device
    const ended = [
      play(issued({ started_by, rules: { verify_attempts: 1 } }), wrong({ by: device })).saved,
      play(issued({ started_by }), cancel()).saved,
      play(issued({ started_by }), lapse()).saved,
    ]
    expect(ended.map(({ value }) => value)).to.deep.equal(['failed', 'canceled', 'expired'])
    for (const saved of ended) expect(play(saved, right()).reply).to.include({ error: 'VerifyNotAllowedError' })
  })
})
