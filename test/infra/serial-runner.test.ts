import { expect } from 'chai'
import { createSerialRunner } from '../../infra/serial-runner.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('a serial runner', () => {
  it('runs the tasks of one key one after another, and those of other keys beside them', async () => {
    const runSerially = createSerialRunner()
    const events: string[] = []
    const task = (name: string, turns: number) => async () => {
      events.push(`${name} begins`)
      for (let left = turns; left > 0; left -= 1) await turn()
      events.push(`${name} ends`)
      return name
    }
    const results = await Promise.all([
      runSerially('a', task('a1', 5)),
      runSerially('a', task('a2', 1)),
      runSerially('b', task('b1', 1)),
    ])
    expect(results).to.deep.equal(['a1', 'a2', 'b1'])
    expect(events).to.deep.equal(['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends'])
  })

  it('goes on after a failed task, whose error only its caller gets', async () => {
    const runSerially = createSerialRunner()
    const failed = runSerially('a', () => Promise.reject(new Error('no')))
    const next = runSerially('a', async () => 'yes')
    expect(await failed.catch(error => error.message)).to.equal('no')
    expect(await next).to.equal('yes')
  })
})
