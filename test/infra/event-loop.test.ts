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

  it('are waited for, each by one, and not by urgent work', async () => {
    const loop = createEventLoop()
    const ran: string[] = []
    for (const name of ['a', 'b']) void loop.turn().then(() => ran.push(name))
    loop.inTurn(() => ran.push('urgent'))
    await turn()
    expect(ran).to.have.members(['a', 'urgent'])
    await until(() => ran.includes('b'))
  })

  it('leave the loop alone for six times as long as a portion held it, and for a tenth of a second at most', async () => {
    let now = 0
    const rests: { ms: number; end(): void }[] = []
    const loop = createEventLoop({ now: () => now, after: (ms, end) => void rests.push({ ms, end }) })
    const ran: number[] = []
    for (const heldMs of [0.5, 4, 500, 1])
      void loop.turn().then(() => {
        now += heldMs
        ran.push(heldMs)
      })
    await until(() => rests.length === 1)
    expect(ran, 'a short portion needs no rest').to.deep.equal([0.5, 4])
    expect(rests[0]?.ms).to.equal(24)
    rests[0]?.end()
    await until(() => rests.length === 2)
    expect(rests[1]?.ms).to.equal(100)
    rests[1]?.end()
    await until(() => ran.length === 4)
  })
})

async function until(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; !isTrue(); turns += 1) {
    expect(turns, 'turns waited for').to.be.below(100)
    await turn()
  }
}
