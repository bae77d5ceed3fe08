import { expect } from 'chai'
import { createEventLoop } from '../../infra/event-loop.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('the turns of the event loop', () => {
  it('have one piece of work each, in the order of the pieces, and the first one soon', async () => {
    const { inTurn } = createEventLoop()
    const ran: string[] = []
    for (const name of ['a', 'b', 'c']) inTurn(() => ran.push(name))
    expect(ran, 'not at once').to.deep.equal([])
    for (const after of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await turn()
      expect(ran).to.deep.equal(after)
    }
    await turn()
    inTurn(() => ran.push('d'))
    await turn()
    expect(ran).to.deep.equal(['a', 'b', 'c', 'd'])
  })

  it('are waited for, each by one', async () => {
    const loop = createEventLoop()
    const ran: string[] = []
    void loop.turn().then(() => ran.push('a'))
    loop.inTurn(() => ran.push('b'))
    await turn()
    expect(ran).to.deep.equal(['a'])
    await turn()
    expect(ran).to.deep.equal(['a', 'b'])
  })

  it('have the work that a piece of work adds, and one at a time', async () => {
    const { inTurn } = createEventLoop()
    const ran: string[] = []
    inTurn(() => {
      ran.push('a')
      for (const name of ['b', 'c']) inTurn(() => ran.push(name))
    })
    for (const after of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await turn()
      expect(ran).to.deep.equal(after)
    }
  })
})
