import { expect } from 'chai'
import { issued, play, reported, resend, T0, wrong } from '../support/otp.ts'

const id = 'cmd_twice'

describe('a command delivered twice', () => {
  it('is recognised after other commands came in between', () => {
    const first = play(issued(), wrong({ id }))
    const second = play(first.saved, reported('sent'), wrong(), resend(), wrong({ id }))
    expect(second.reply).to.deep.equal(first.reply)
    expect(second.saved.context.wrong_codes).to.equal(2)
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
