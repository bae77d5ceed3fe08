import { expect } from 'chai'
import {
  cancel,
  device,
  exchange,
  issued,
  lapse,
  type Move,
  message,
  play,
  reported,
  resend,
  right,
  T0,
  wrong,
} from '../support/otp.ts'

const id = 'cmd_twice'

describe('a command delivered twice', () => {
  const link = { order: ['whatsapp' as const], rules: { send_attempts: 9 } }
  const cases: [string, Parameters<typeof issued>[0], Move[], () => Move][] = [
    ['a guess', {}, [], () => wrong({ id })],
    ['the last guess', { rules: { verify_attempts: 1 } }, [], () => wrong({ id })],
    ['an approval', {}, [], () => right({ id })],
    ['a guess after approval', {}, [right()], () => wrong({ id })],
    ['an approval that is repeated', {}, [right()], () => right({ id })],
    ['a plain resend', { rules: { cooldowns_ms: [0] } }, [], () => resend(null, { id })],
    ['a named resend', { rules: { cooldowns_ms: [0] } }, [], () => resend('sms', { id })],
    ['a resend of the same link', { ...link, whatsapp: 'link_code' }, [], () => resend(null, { id })],
    ['a cancellation', {}, [], () => cancel({ id })],
    ['a reminder', {}, [], () => lapse({ id })],
    ['a receipt', {}, [], () => reported('delivered', { id })],
    ['a failure that fell back', { rules: { auto_fallback: true } }, [], () => reported('failed', { id })],
    ['a message that approves', { ...link, whatsapp: 'link_inbound' }, [], () => message('link_1', { id })],
    ['a message that asks for the code', { ...link, whatsapp: 'link_code' }, [], () => message('link_1', { id })],
    ['an exchange', { started_by: device }, [right({ by: device })], () => exchange({ id })],
  ]
  for (const [what, start, before, twice] of cases)
    it(`gets its reply twice and is executed once: ${what}`, () => {
      const first = play(issued(start), ...before, twice())
      const second = play(first.saved, twice())
      expect(first.changed, 'the first time').to.equal(true)
      expect(second).to.deep.include({ reply: first.reply, effects: [], changed: false, dueAt: first.dueAt })
      expect(second.saved).to.equal(first.saved)
    })

  it('is recognised after other commands came in between', () => {
    const first = play(issued(), wrong({ id }))
    const second = play(first.saved, reported('sent'), wrong(), resend(), wrong({ id }))
    expect(second.reply).to.deep.equal(first.reply)
    expect(second.saved.context.wrong_codes).to.equal(2)
  })

  it('gets its first reply again after the verification has changed', () => {
    const first = play(issued(), wrong({ id }))
    expect(play(first.saved, right(), wrong({ id })).reply).to.deep.equal(first.reply)
  })

  it('gets the same refusal again when it was refused', () => {
    const early = () => resend(null, { id, at: T0 + 1_000 })
    const { replies, changed } = play(issued(), early(), early())
    expect(replies[1]).to.deep.equal(replies[0])
    expect(changed).to.equal(false)
  })

  it('is forgotten after eight more commands, so that the document does not grow', () => {
    const guesses = Array.from({ length: 9 }, () => wrong())
    const { saved } = play(issued({ rules: { verify_attempts: 10 } }), wrong({ id }), ...guesses)
    expect(saved.last_commands).to.have.length(8)
    expect(saved.last_commands.map(command => command.id)).not.to.include(id)
  })

  it('is not remembered when it changed nothing, because then nothing is saved', () => {
    const before = issued()
    expect(play(before, resend(null, { at: T0 })).saved).to.equal(before)
  })
})
