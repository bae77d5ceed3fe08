import { expect } from 'chai'
import { createEventLoop } from '../../infra/event-loop.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('the turns of the event loop', () => {
  it('have one piece of work each, in the order of the pieces, also of one that another adds', async () => {
    const { inTurn } = createEventLoop()
    const ran: string[] = []
    for (const name of ['a', 'b'])
      inTurn(() => {
        ran.push(name)
        if (name === 'a') inTurn(() => ran.push('c'))
      })
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
})
