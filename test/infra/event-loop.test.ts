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

  it('go on after a long portion once the loop had nothing to do, or after six times as long, a tenth of a second at most', async () => {
    let [now, idleMs] = [0, 0]
    const steps: (() => void)[] = []
    const loop = createEventLoop({ now: () => now, idleMs: () => idleMs, after: (_, step) => void steps.push(step) })
    const ran: number[] = []
    const portion = (heldMs: number) =>
      void loop.turn().then(() => {
        now += heldMs
        ran.push(heldMs)
      })
    /** How long it was until the next portion had ended. */
    const untilNext = async (): Promise<number> => {
      await until(() => steps.length === 1)
      const [before, restsAt] = [ran.length, now]
      while (ran.length === before) {
        now += 2
        steps.shift()?.()
        await turn()
      }
      return now - restsAt
    }
    for (const heldMs of [0.5, 4, 500, 0.1]) portion(heldMs)
    await until(() => ran.length === 2)
    expect(ran, 'a short portion needs no rest').to.deep.equal([0.5, 4])
    expect(await untilNext()).to.equal(24 + 500)
    expect(await untilNext()).to.be.closeTo(100, 1)
    portion(4)
    await until(() => steps.length === 1)
    portion(0.1)
    idleMs += 1
    steps.shift()?.()
    await until(() => ran.length === 6)
  })
})

async function until(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; !isTrue(); turns += 1) {
    expect(turns, 'turns waited for').to.be.below(100)
    await turn()
  }
}
