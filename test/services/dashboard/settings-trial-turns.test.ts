// Trials of settings take turns. A caller that has left does not keep the next one of its company out.
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { createTurns } from '../../../services/dashboard/settings-trial/turns.ts'

function startTurns() {
  const inTurn = createTurns()
  const begun: string[] = []
  const start = (name: string, company_id = 'cmp_a') => {
    const caller = { hasLeft: false, end() {} }
    const ended = new Promise<string>(resolve => {
      caller.end = () => resolve(name)
    })
    const answer = inTurn({ company_id, isAbandoned: () => caller.hasLeft }, () => {
      begun.push(name)
      return ended
    })
    return Object.assign(caller, { answer })
  }
  return { begun, start }
}

describe('the turns of trials', () => {
  it('refuse a second one of a company while the first runs or waits, and not afterwards', async () => {
    const { start } = startTurns()
    const other = start('other', 'cmp_b')
    const first = start('first')
    expect(await start('second').answer.catch(({ status }) => status)).to.equal(429)
    other.end()
    first.end()
    await first.answer
    const third = start('third')
    third.end()
    expect(await third.answer).to.equal('third')
  })

  it('have a second one wait until the first has ended, if the caller of the first has left', async () => {
    const { begun, start } = startTurns()
    const first = start('first')
    first.hasLeft = true
    const second = start('second')
    await setImmediate()
    expect(begun).to.deep.equal(['first'])
    expect(await start('third').answer.catch(({ status }) => status)).to.equal(429)
    first.end()
    await first.answer
    expect(await start('fourth').answer.catch(({ status }) => status), 'the second runs').to.equal(429)
    second.end()
    expect(await second.answer).to.equal('second')
  })
})
