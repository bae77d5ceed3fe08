import { expect } from 'chai'
import { createTaskGroups } from '../../infra/task-groups.ts'
import { testClock } from '../support/clock.ts'

describe('task groups', () => {
  function start({ max = 10, isBusy = () => true }: { max?: number; isBusy?: () => boolean } = {}) {
    const clock = testClock()
    const run = createTaskGroups({ max, maxWaitMs: 500, isBusy, clock })
    const begun: string[] = []
    const ends = new Map<string, (failure?: Error) => void>()
    const add = (name: string): Promise<string> =>
      run(
        () =>
          new Promise<string>((resolve, reject) => {
            begun.push(name)
            ends.set(name, failure => (failure ? reject(failure) : resolve(name)))
          }),
      )
    const end = (...names: string[]): void => {
      for (const name of names) ends.get(name)?.()
    }
    /** After the promises and the turn of the event loop in which a group can be joined. */
    const settled = async (): Promise<void> => {
      for (let turn = 0; turn < 2; turn += 1) await new Promise<void>(resolve => setImmediate(resolve))
    }
    const fail = (name: string, error: Error): void => ends.get(name)?.(error)
    return { clock, begun, add, end, fail, settled }
  }
  type Started = ReturnType<typeof start>

  /** Four tasks under way, and two that came later. */
  async function startWithLate(options: Parameters<typeof start>[0] = {}): Promise<Started> {
    const started = start(options)
    for (const name of ['a', 'b', 'c', 'd']) void started.add(name)
    await started.settled()
    for (const name of ['late', 'later']) void started.add(name)
    await started.settled()
    return started
  }

  it('begin what comes in one turn together', async () => {
    const { begun, add, settled } = start()
    void add('a')
    await Promise.resolve()
    void add('b')
    await settled()
    expect(begun).to.deep.equal(['a', 'b'])
  })

  it('hold back what comes during a group until it has ended, while the process is busy', async () => {
    const { begun, end, settled } = await startWithLate()
    expect(begun).to.have.length(4)
    end('b', 'a', 'd')
    await settled()
    expect(begun).to.have.length(4)
    end('c')
    await settled()
    expect(begun.slice(4)).to.deep.equal(['late', 'later'])
  })

  it('do not wait for the last eighth of a group', async () => {
    const { begun, add, end, settled } = start()
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'hangs']
    for (const name of names) void add(name)
    await settled()
    void add('late')
    end(...names.slice(0, 6))
    await settled()
    expect(begun).to.deep.equal(names)
    end('g')
    await settled()
    expect(begun.slice(8)).to.deep.equal(['late'])
    void add('later')
    await settled()
    expect(begun, 'what is left counts as part of the next group').to.have.length(9)
    end('late')
    await settled()
    expect(begun, 'a group of two has no eighth').to.have.length(9)
    end('hangs')
    await settled()
    expect(begun.at(-1)).to.equal('later')
  })

  it('begin everything at once while the process has idle time, and what waits at the next end of a task', async () => {
    expect((await startWithLate({ isBusy: () => false })).begun).to.have.length(6)
    let busy = true
    const { begun, end, settled } = await startWithLate({ isBusy: () => busy })
    busy = false
    end('a')
    await settled()
    expect(begun).to.have.length(6)
  })

  it('begin what waits although no task ends, once the process has idle time', async () => {
    let busy = true
    const { clock, begun } = await startWithLate({ isBusy: () => busy })
    await clock.advance(200)
    expect(begun).to.have.length(4)
    busy = false
    await clock.advance(100)
    expect(begun.slice(4)).to.deep.equal(['late', 'later'])
  })

  it('let nothing wait for long for a group that hangs', async () => {
    const { clock, begun, add } = await startWithLate()
    await clock.advance(499)
    expect(begun).to.have.length(4)
    await clock.advance(1)
    expect(begun.slice(4)).to.deep.equal(['late', 'later'])
    void add('last')
    await clock.advance(499)
    expect(begun).to.have.length(6)
    await clock.advance(1)
    expect(begun.at(-1)).to.equal('last')
  })

  it('never run more than the most at once, in the order they came', async () => {
    const { clock, begun, add, end, settled } = await startWithLate({ max: 5 })
    void add('last')
    await clock.advance(500)
    expect(begun.slice(4)).to.deep.equal(['late'])
    await clock.advance(5_000)
    expect(begun).to.have.length(5)
    end('a', 'b', 'c', 'd', 'late')
    await settled()
    expect(begun.slice(5)).to.deep.equal(['later', 'last'])
  })

  it('go on after a task that fails, and answer what each task answers', async () => {
    const { begun, add, end, fail, settled } = start()
    const first = add('a').catch(error => error.message)
    await settled()
    const late = add('late')
    await settled()
    fail('a', new Error('lost'))
    expect(await first).to.equal('lost')
    await settled()
    expect(begun).to.deep.equal(['a', 'late'])
    end('late')
    expect(await late).to.equal('late')
  })
})
