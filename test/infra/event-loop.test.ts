import { expect } from 'chai'
import { createEventLoop } from '../../infra/event-loop.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('the turns of the event loop', () => {
  /** Pieces of work that take as long as they say, and the times at which they ran. */
  function createWork() {
    let time = 0
    const loop = createEventLoop(() => time)
    const ran: number[] = []
    return {
      loop,
      ran,
      add: (ms: number) =>
        loop.inTurn(() => {
          ran.push(time)
          time += ms
        }),
      async pass(ms: number) {
        await turn()
        time += ms
      },
    }
  }

  it('have one piece of work each, in the order of the pieces, and the first one soon', async () => {
    const { add, ran, pass } = createWork()
    for (let n = 0; n < 3; n += 1) add(1)
    expect(ran, 'not at once').to.deep.equal([])
    for (let n = 1; n <= 3; n += 1) {
      await pass(0)
      expect(ran).to.have.length(n)
    }
    await pass(0)
    add(1)
    await pass(0)
    expect(ran).to.have.length(4)
  })

  it('are left to connections as long as each brings one, for the time that the work before took', async () => {
    const { loop, add, ran, pass } = createWork()
    add(10)
    add(10)
    await pass(0)
    expect(ran).to.deep.equal([0])
    for (let n = 0; n < 10; n += 1) {
      loop.connectionAccepted()
      await pass(1)
      expect(ran).to.deep.equal([0])
    }
    loop.connectionAccepted()
    await pass(1)
    expect(ran).to.deep.equal([0, 20])
  })

  it('are used for work again after the first that brings no connection', async () => {
    const { loop, add, ran, pass } = createWork()
    add(10)
    add(10)
    await pass(0)
    loop.connectionAccepted()
    await pass(1)
    await pass(1)
    expect(ran).to.deep.equal([0, 11])
  })
})
