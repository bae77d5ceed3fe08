import { expect } from 'chai'
import { createIsBusy } from '../../infra/busy-process.ts'

describe('a busy process', () => {
  function start() {
    const times = { idle: 1_000, active: 1_000 }
    const isBusy = createIsBusy(() => ({ ...times }))
    /** Lets time pass, and asks at the end of it. */
    const ask = (active: number, idle: number): boolean => {
      times.active += active
      times.idle += idle
      return isBusy()
    }
    return { ask }
  }

  it('is one with little idle time', () => {
    const { ask } = start()
    expect(ask(90, 10)).to.equal(true)
    expect(ask(70, 30)).to.equal(false)
  })

  it('is not one that has just begun to work', () => {
    const { ask } = start()
    expect(ask(0, 10_000)).to.equal(false)
    expect(ask(20, 0)).to.equal(false)
    expect(ask(60, 0)).to.equal(false)
    expect(ask(100, 0), 'the last moments decide').to.equal(true)
    expect(ask(0, 100)).to.equal(false)
    expect(ask(0, 0), 'where the runtime does not count').to.equal(false)
  })

  it('counts the time of its own event loop', async () => {
    const isBusy = createIsBusy()
    const began = performance.now()
    while (performance.now() - began < 150);
    expect(isBusy()).to.equal(true)
  })
})
