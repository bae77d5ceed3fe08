// Shares of an event loop that is simulated: a piece of work holds it for a while, and time passes for nothing else.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createLoopShares } from '../../infra/loop-shares.ts'

describe('shares of the event loop', () => {
  function startLoop({ maxPieces = 1_000 } = {}) {
    let [now, active] = [0, 0]
    const due: { at: number; task: () => void }[] = []
    const shares = createLoopShares({
      share: { ofOne: 0.1, ofAll: 0.15 },
      maxWaitMs: 10_000,
      maxPieces,
      tooLate: () => new Error('too late'),
      now: () => now,
      activeMs: () => active,
      after: (ms, task) => void due.push({ at: now + ms, task }),
    })
    const done: Record<string, number> = {}
    return {
      done,
      isFull: shares.isFull,
      /** Work that holds the loop. */
      async work(owner: string, ms: number): Promise<void> {
        await shares.run(owner, async () => {
          now += ms
          active += ms
          done[owner] = (done[owner] ?? 0) + 1
        })
      },
      /** Work that goes on without end. */
      endless: (owner: string, begun: () => void) =>
        void shares.run(owner, () => {
          begun()
          return new Promise(() => {})
        }),
      /** Others hold the loop. */
      busy(ms: number): void {
        now += ms
        active += ms
      },
      /** Waits without holding the loop. */
      wait: (owner: string, ms: number) =>
        shares.run(owner, async () => {
          now += ms
        }),
      async pass(ms: number): Promise<void> {
        for (const end = now + ms; now < end; now += 1) {
          for (const one of due.splice(0)) one.at <= now ? one.task() : due.push(one)
          await nextTurn()
        }
      },
    }
  }
  const ignore = (): void => {}

  it('are not waited for without end', async () => {
    const loop = startLoop()
    const ends: string[] = []
    for (let nth = 0; nth < 300; nth += 1)
      loop.work('a', 10).then(
        () => ends.push('done'),
        error => ends.push(error.message),
      )
    await loop.pass(10_100)
    expect(ends).to.have.length(300)
    expect(ends.filter(end => end === 'too late').length).to.be.within(150, 200)
  })

  it('are refused at once to an owner whose work would wait too long, and not to others', async () => {
    const loop = startLoop()
    let refused = 0
    await loop.work('a', 100)
    for (let nth = 0; nth < 300; nth += 1) void loop.work('a', 100).catch(() => (refused += 1))
    await nextTurn()
    // The ten seconds that a piece may wait hold ten of them, and their cost was still guessed too low.
    expect(refused).to.be.above(200)
    expect([loop.isFull('a'), loop.isFull('b')]).to.deep.equal([true, false])
    await loop.pass(10_100)
    expect(loop.isFull('a')).to.equal(false)
  })

  it('are given to so many pieces of an owner, however little they take', async () => {
    const loop = startLoop({ maxPieces: 20 })
    for (let nth = 0; nth < 20; nth += 1) {
      expect(loop.isFull('many')).to.equal(false)
      loop.endless('many', () => {})
      await loop.pass(100)
    }
    expect([loop.isFull('many'), loop.isFull('b')]).to.deep.equal([true, false])
  })

  it('are a tenth for one owner, however much it wants', async () => {
    const loop = startLoop()
    for (let nth = 0; nth < 500; nth += 1) loop.work('a', 10).catch(ignore)
    await loop.pass(5_000)
    // And what it had saved up.
    expect(loop.done.a).to.be.within(45, 75)
  })

  it('are equal for owners that want more than all may have', async () => {
    const loop = startLoop()
    for (let nth = 0; nth < 900; nth += 1) for (const owner of ['a', 'b', 'c']) loop.work(owner, 10).catch(ignore)
    await loop.pass(6_000)
    const { a = 0, b = 0, c = 0 } = loop.done
    expect(a + b + c).to.be.within(80, 125)
    for (const count of [a, b, c]) expect(count).to.be.within(22, 48)
  })

  it('go to no third piece while two of an owner are under way for long on a busy loop', async () => {
    const loop = startLoop()
    let begun = 0
    for (let nth = 0; nth < 4; nth += 1)
      loop.endless('slow', () => {
        begun += 1
      })
    for (let nth = 0; nth < 30; nth += 1) {
      loop.busy(100)
      await loop.pass(5)
    }
    expect(begun).to.equal(2)
    await loop.pass(2_000)
    expect(begun, 'those that wait for something count no more').to.equal(4)
  })

  it('do not hold up an owner that wants little, or one that waits for others', async () => {
    const loop = startLoop()
    for (let nth = 0; nth < 500; nth += 1) loop.work('flood', 10).catch(ignore)
    await loop.pass(1_000)
    let answered = 0
    for (let nth = 0; nth < 20; nth += 1) {
      loop.work('small', 1).then(() => (answered += 1), ignore)
      await loop.pass(100)
    }
    expect(answered).to.equal(20)
    for (let nth = 0; nth < 5; nth += 1) await loop.wait('vendor', 10_000)
    expect(
      await Promise.race([loop.work('vendor', 1).then(() => 'at once'), nextTurn(null).then(() => 'later')]),
    ).to.equal('at once')
  })
})
