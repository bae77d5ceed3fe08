import { expect } from 'chai'
import { createMetrics } from '../../../../infra/metrics.ts'
import { type Admission, gates, type Pass } from '../../../../services/channel/admission/gates.ts'
import type { AttemptResult } from '../../../../services/domain/verifications/documents.ts'
import { capturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'

const shop = { company_id: 'cmp_acme', app_id: 'app_shop', name: 'twilio-main', type: 'twilio' } as const

function opened() {
  const clock = testClock()
  const log = capturedLog()
  const metrics = createMetrics()
  const all = gates({ channel: 'sms', clock, log: log.log, metrics })
  const enter = async (provider: Parameters<typeof all.enter>[0] = shop): Promise<Pass> => {
    const pass = await all.enter(provider)
    if (!isPass(pass)) throw new Error(`not let in: ${JSON.stringify(pass)}`)
    return pass
  }
  return {
    ...{ clock, log, metrics, all, enter },
    call: async (result: AttemptResult, retryAfterMs: number | null = null) =>
      (await enter()).run(async () => ({ result, retryAfterMs })),
  }
}

const isPass = (pass: Admission): pass is Pass => typeof pass === 'object' && 'run' in pass

describe('the gate of a provider', () => {
  it('is apart for every app and provider', async () => {
    const { all, enter, clock } = opened()
    for (let nth = 0; nth < 64; nth += 1) await enter()
    await clock.advance(3_000)
    expect(await all.enter(shop)).to.deep.equal({ fullForMs: 3_000 })
    for (const other of [
      { ...shop, app_id: 'app_other' },
      { ...shop, name: 'twilio-spare' },
    ])
      expect(await all.enter(other)).to.satisfy(isPass)
  })

  it('lets one company have no more than its share, whatever it has of apps and providers', async () => {
    const { all, enter } = opened()
    const passes: Pass[] = []
    for (let nth = 0; nth < 250; nth += 1) passes.push(await enter({ ...shop, app_id: `app_${nth % 4}` }))
    const more = { ...shop, app_id: 'app_more' }
    expect(await all.enter(more)).to.have.property('fullForMs')
    expect(await all.enter({ ...more, company_id: 'cmp_other' })).to.satisfy(isPass)
    passes[0]?.leave()
    expect(await all.enter(more)).to.satisfy(isPass)
  })

  it('is not shut by destinations it does not serve, so that nobody can shut it by asking for them', async () => {
    const { all, enter } = opened()
    for (let nth = 0; nth < 30; nth += 1)
      await (await enter()).run(async () => ({ result: 'failed', retryAfterMs: null, excused: true }))
    expect(await all.enter(shop)).to.satisfy(isPass)
  })

  it('is shut by failures and unknown outcomes, not by recipients', async () => {
    const { all, call } = opened()
    for (let nth = 0; nth < 20; nth += 1) await call('refused')
    for (let nth = 0; nth < 19; nth += 1) await call(nth % 2 ? 'failed' : 'unknown')
    expect(await all.enter(shop)).to.satisfy(isPass)
    await call('failed')
    expect(await all.enter(shop)).to.equal('shut')
    expect(await all.enter({ ...shop, app_id: 'app_other' }), 'another’s').to.satisfy(isPass)
  })

  it('sends away at once those who wait before it when it is shut', async () => {
    const { all, enter } = opened()
    const inside = await Promise.all(Array.from({ length: 64 }, () => enter()))
    const waiting = [all.enter(shop), all.enter(shop)]
    for (const pass of inside.slice(0, 32)) await pass.run(async () => ({ result: 'failed', retryAfterMs: null }))
    expect((await Promise.all(waiting)).map(isPass), 'let in before').to.deep.equal([true, true])
    const late = all.enter(shop)
    expect(await late).to.equal('shut')
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
    expect(await all.enter(shop)).to.equal('shut')
    await clock.advance(20_000)
    await call('failed', 3_600_000)
    await clock.advance(59_999)
    expect(await all.enter(shop)).to.equal('shut')
    await clock.advance(1)
    expect(await all.enter(shop)).to.satisfy(isPass)
  })
})
