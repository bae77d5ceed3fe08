import { expect } from 'chai'
import { createMetrics } from '../../../infra/metrics.ts'
import type { AttemptResult } from '../../../infra/otps/documents.ts'
import { gates, type Pass } from '../../../services/channel/gates.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'

const ROOM = 64
const MOST = 200
const shop = { app_id: 'app_shop', name: 'twilio-main', type: 'twilio' } as const

function opened() {
  const clock = testClock()
  const log = capturedLog()
  const metrics = createMetrics()
  const all = gates({ channel: 'sms', clock, log: log.log, metrics })
  const enter = (provider: Parameters<typeof all.enter>[0] = shop): Pass => {
    const pass = all.enter(provider)
    if (typeof pass === 'string') throw new Error(`not let in: ${pass}`)
    return pass
  }
  return {
    ...{ clock, log, metrics, all, enter },
    call: (result: AttemptResult, retryAfterMs: number | null = null, provider = shop as typeof shop) =>
      enter(provider).run(async () => ({ result, retryAfterMs })),
    /** Answered at once, so many together. */
    async together(result: AttemptResult, many: number): Promise<void> {
      const passes = Array.from({ length: many }, () => enter())
      await Promise.all(passes.map(pass => pass.run(async () => ({ result, retryAfterMs: null }))))
    },
    /** How many more are let in. */
    room(): number {
      const passes: Pass[] = []
      for (;;) {
        const pass = all.enter(shop)
        if (typeof pass === 'string') break
        passes.push(pass)
      }
      for (const pass of passes) pass.leave()
      return passes.length
    },
  }
}

describe('the gate of a provider', () => {
  it('has room for so many calls at once, apart for every app and provider', () => {
    const { all, enter } = opened()
    for (let nth = 0; nth < ROOM; nth += 1) enter()
    expect(all.enter(shop)).to.equal('full')
    for (const other of [
      { ...shop, app_id: 'app_other' },
      { ...shop, name: 'twilio-spare' },
    ])
      expect(all.enter(other)).not.to.be.a('string')
  })

  it('gives back the room of a call that is over, one way or the other', async () => {
    const { room, enter, call } = opened()
    for (const end of [
      () => call('accepted'),
      () => call('failed'),
      () => enter().leave(),
      () => enter().run(() => Promise.reject(new Error('a bug'))),
    ]) {
      await Promise.resolve(end()).catch(() => {})
      expect(room()).to.equal(ROOM)
    }
  })

  it('gives more room to a provider that answers and needs it, up to less than half of what a channel has in hand', async () => {
    const { room, together, call } = opened()
    await call('accepted')
    expect(room(), 'not needed').to.equal(ROOM)
    await together('accepted', ROOM)
    expect(room()).to.be.greaterThan(ROOM)
    for (let nth = 0; nth < 10; nth += 1) await together('accepted', room())
    expect(room()).to.equal(MOST)
  })

  it('gives less to one that hangs, and never none', async () => {
    const { room, call, clock } = opened()
    await call('unknown')
    expect(room()).to.equal(ROOM / 2)
    for (let nth = 0; nth < 8; nth += 1) {
      await clock.advance(61_000)
      await call('unknown')
    }
    expect(room()).to.equal(4)
  })

  it('is shut by failures and unknown outcomes, not by recipients', async () => {
    const { all, call } = opened()
    for (let nth = 0; nth < 20; nth += 1) await call('refused')
    for (let nth = 0; nth < 19; nth += 1) await call(nth % 2 ? 'failed' : 'unknown')
    expect(all.enter(shop)).not.to.be.a('string')
    await call('failed')
    expect(all.enter(shop)).to.equal('shut')
    expect(all.enter({ ...shop, app_id: 'app_other' }), 'another’s').not.to.be.a('string')
  })

  it('tells of its breaker in the log and in metrics, which name no app', async () => {
    const { call, log, metrics, clock, all } = opened()
    for (let nth = 0; nth < 10; nth += 1) await call('failed')
    const shown = async () =>
      (await metrics.render()).body.split('\n').filter(line => line.startsWith('countersign_breakers'))
    expect(await shown()).to.have.members([
      'countersign_breakers{channel="sms",provider="twilio",state="closed"} 0',
      'countersign_breakers{channel="sms",provider="twilio",state="open"} 1',
      'countersign_breakers{channel="sms",provider="twilio",state="half_open"} 0',
    ])
    await clock.advance(30_000)
    await call('accepted')
    expect(await shown()).to.include('countersign_breakers{channel="sms",provider="twilio",state="closed"} 1')
    const told = log.lines().filter(({ msg }) => msg === 'breaker.changed')
    expect(told.map(({ app_id, provider, state }) => [app_id, provider, state])).to.deep.equal(
      ['open', 'half_open', 'closed'].map(state => ['app_shop', 'twilio-main', state]),
    )
    all.close()
  })

  it('leaves a vendor alone for as long as it asks, and a minute at most', async () => {
    const { all, call, clock } = opened()
    await call('failed', 20_000)
    expect(all.enter(shop)).to.equal('shut')
    await clock.advance(20_000)
    await call('failed', 3_600_000)
    await clock.advance(59_999)
    expect(all.enter(shop)).to.equal('shut')
    await clock.advance(1)
    expect(all.enter(shop)).not.to.be.a('string')
  })
})
