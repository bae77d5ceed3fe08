import { expect } from 'chai'
import { createSerialRunner } from '../../infra/serial-runner.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('serially', () => {
  it('runs the tasks of one key one after another, in their order, and lets other keys pass', async () => {
    const inTurn = createSerialRunner()
    const events: string[] = []
    const task = (name: string, turns: number) => async () => {
      events.push(`${name} begins`)
      for (let left = turns; left > 0; left -= 1) await turn()
      events.push(`${name} ends`)
      return name
    }
    const results = await Promise.all([
      inTurn('a', task('a1', 5)),
      inTurn('a', task('a2', 1)),
      inTurn('b', task('b1', 1)),
    ])
    expect(results).to.deep.equal(['a1', 'a2', 'b1'])
    expect(events).to.deep.equal(['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends'])
  })

  it('goes on after a task that failed, and tells only its caller', async () => {
    const inTurn = createSerialRunner()
    const failed = inTurn('a', () => Promise.reject(new Error('no')))
    const next = inTurn('a', async () => 'yes')
    expect(await failed.catch(error => error.message)).to.equal('no')
    expect(await next).to.equal('yes')
  })
})
