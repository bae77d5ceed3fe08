import { expect } from 'chai'
import { createMetrics } from '../../../../infra/metrics.ts'
import {
  createProviderGates,
  type GateAnswer,
  type Permit,
  prefetchFor,
} from '../../../../services/channel/admission/provider-gates.ts'
import type { AttemptResult } from '../../../../services/domain/verifications/documents.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { HOLDS_NONE } from '../../../support/channel-actor.ts'
import { testClock } from '../../../support/clock.ts'
import { promiseState } from '../../../support/promise-state.ts'

const shop = { company_id: 'cmp_acme', app_id: 'app_shop', name: 'twilio-main', type: 'twilio' } as const

function createTestGates(maxCalls = 200) {
  const clock = testClock()
  const log = createCapturedLog()
  const metrics = createMetrics()
  const reported: string[] = []
  const breakerReports = {
    report: (app_id: string, provider: string, state: string) => void reported.push(`${app_id} ${provider} ${state}`),
    forget: (app_id: string, provider: string) => void reported.push(`${app_id} ${provider} gone`),
  }
  const gates = createProviderGates({
    channel: 'sms',
    maxCalls,
    clock,
    log: log.log,
    metrics,
    breakerReports,
    excess: HOLDS_NONE,
  })
  const enter = async (provider: Parameters<typeof gates.admit>[0] = shop): Promise<Permit> => {
    const permit = await gates.admit(provider)
    if (!isPermit(permit)) throw new Error(`not admitted: ${JSON.stringify(permit)}`)
    return permit
  }
  return {
    clock,
    log,
    metrics,
    gates,
    reported,
    enter,
    call: async (result: AttemptResult, retryAfterMs: number | null = null) =>
      (await enter()).run(async () => ({ result, retryAfterMs })),
  }
}

const isPermit = (permit: GateAnswer): permit is Permit => typeof permit === 'object' && 'run' in permit

describe('admission to a provider', () => {
  it('has a separate limit for every app and provider, also of one company', async () => {
    const { gates, enter, clock } = createTestGates(10)
    for (let nth = 0; nth < 10; nth += 1) await enter()
    await clock.advance(3_000)
    expect(await gates.admit(shop)).to.deep.equal({ busyMs: 3_000 })
    for (const other of [{ app_id: 'app_other' }, { name: 'a' }, { name: 'b' }])
      for (let nth = 0; nth < 10; nth += 1) await enter({ ...shop, ...other } as typeof shop)
    expect([prefetchFor(10), prefetchFor(200), prefetchFor(400)]).to.deep.equal([750, 750, 1_500])
  })

  it('limits the calls of one company over all its apps and providers', async () => {
    const { gates, enter } = createTestGates()
    const permits: Permit[] = []
    for (let nth = 0; nth < 250; nth += 1) permits.push(await enter({ ...shop, app_id: `app_${nth % 4}` }))
    const more = { ...shop, app_id: 'app_more' }
    expect(await gates.admit(more)).to.have.property('busyMs')
    expect(await gates.admit({ ...more, company_id: 'cmp_other' })).to.satisfy(isPermit)
    permits[0]?.release()
    expect(await gates.admit(more)).to.satisfy(isPermit)
  })

  it('keeps a third of what the channel takes free of one company, whatever waits', async () => {
    const { gates, clock } = createTestGates()
    let held = 0
    for (const app_id of ['app_a', 'app_b', 'app_c', 'app_d', 'app_e'])
      for (; held < prefetchFor(200) && (await isAdmitted({ ...shop, app_id })); held += 1);
    expect(held).to.be.within(251, prefetchFor(200) * (2 / 3))

    /** A provider that was never called has no gate, and tells nothing before. */
    async function isAdmitted(provider: Parameters<typeof gates.admit>[0]): Promise<boolean> {
      const admitted = promiseState(gates.admit(provider))
      await clock.advance(0)
      return admitted.state === 'pending' || isPermit(admitted.value as GateAnswer)
    }
  })

  it('sends those that wait away and grants no call while it is paused, and does again once it is resumed', async () => {
    const { gates, enter } = createTestGates(1)
    await enter()
    const waiting = [gates.admit(shop), gates.admit(shop)]
    gates.pause()
    expect(await Promise.all(waiting)).to.deep.equal([{ busyMs: 0 }, { busyMs: 0 }])
    const other = { ...shop, name: 'free' }
    expect([await gates.admit(other), gates.busyMs([other])]).to.deep.equal([{ busyMs: 0 }, 0])
    gates.resume()
    expect(gates.busyMs([shop])).to.equal(null)
    expect(await gates.admit(other)).to.satisfy(isPermit)
  })

  it('is shut by failures and unknown outcomes, not by faults of recipients and destinations that are not served', async () => {
    const { gates, call, enter } = createTestGates()
    const unserved = { result: 'failed', retryAfterMs: null, ignoredByBreaker: true } as const
    for (let nth = 0; nth < 30; nth += 1) await (await enter()).run(async () => unserved)
    for (let nth = 0; nth < 20; nth += 1) await call('refused')
    for (let nth = 0; nth < 49; nth += 1) await call(nth % 2 ? 'failed' : 'unknown')
    expect(await gates.admit(shop)).to.satisfy(isPermit)
    await call('failed')
    expect(await gates.admit(shop)).to.equal('shut')
    expect(await gates.admit({ ...shop, app_id: 'app_other' }), 'another app’s').to.satisfy(isPermit)
  })

  it('refuses calls at once when the provider is shut, after it has admitted those that waited before', async () => {
    const { gates, enter } = createTestGates()
    const inside = await Promise.all(Array.from({ length: 64 }, () => enter()))
    const waiting = [gates.admit(shop), gates.admit(shop)]
    for (const permit of inside.slice(0, 32)) await permit.run(async () => ({ result: 'failed', retryAfterMs: null }))
    expect((await Promise.all(waiting)).map(isPermit), 'admitted before').to.deep.equal([true, true])
    const late = gates.admit(shop)
    expect(await late).to.equal('shut')
  })

  it('reports the breaker to operators, its changes in the log, and its state in metrics that name no app', async () => {
    const { call, log, metrics, clock, gates, reported } = createTestGates()
    for (let nth = 0; nth < 10; nth += 1) await call('failed')
    const breakerMetrics = async () =>
      (await metrics.render()).body.split('\n').filter(line => line.startsWith('countersign_breakers'))
    expect(await breakerMetrics()).to.have.members([
      'countersign_breakers{channel="sms",provider="twilio",state="closed"} 0',
      'countersign_breakers{channel="sms",provider="twilio",state="open"} 1',
      'countersign_breakers{channel="sms",provider="twilio",state="half_open"} 0',
    ])
    await clock.advance(30_000)
    await call('accepted')
    expect(await breakerMetrics()).to.include('countersign_breakers{channel="sms",provider="twilio",state="closed"} 1')
    const lines = log.lines().filter(({ msg }) => msg === 'breaker.changed')
    expect(lines.map(({ app_id, provider, state }) => [app_id, provider, state])).to.deep.equal(
      ['open', 'half_open', 'closed'].map(state => ['app_shop', 'twilio-main', state]),
    )
    for (let nth = 0; nth < 2; nth += 1) gates.forget(shop.app_id, shop.name)
    expect(reported).to.deep.equal(
      ['closed', 'open', 'half_open', 'closed', 'gone'].map(state => `app_shop twilio-main ${state}`),
    )
    gates.close()
  })

  it('starts afresh when the setup of the provider has changed, and does not count calls that began before', async () => {
    const { gates, call, enter, metrics } = createTestGates()
    const begunBefore = await Promise.all(Array.from({ length: 20 }, () => enter()))
    for (let nth = 0; nth < 10; nth += 1) await call('failed')
    expect(await gates.admit(shop)).to.equal('shut')
    gates.forget(shop.app_id, shop.name)
    expect(await gates.admit(shop)).to.satisfy(isPermit)
    for (const permit of begunBefore) await permit.run(async () => ({ result: 'failed', retryAfterMs: 60_000 }))
    expect(await gates.admit(shop)).to.satisfy(isPermit)
    expect((await metrics.render()).body).to.include(
      'countersign_breakers{channel="sms",provider="twilio",state="open"} 0',
    )
  })

  it('pauses for as long as the vendor asks, at most a minute, also for those that wait already', async () => {
    const { gates, enter, call, clock } = createTestGates(1)
    const inside = await enter()
    const waiting = gates.admit(shop)
    await inside.run(async () => ({ result: 'failed', retryAfterMs: 20_000 }))
    expect([await waiting, await gates.admit(shop)]).to.deep.equal(['shut', 'shut'])
    await clock.advance(20_000)
    await call('failed', 3_600_000)
    await clock.advance(59_999)
    expect(await gates.admit(shop)).to.equal('shut')
    await clock.advance(1)
    expect(await gates.admit(shop)).to.satisfy(isPermit)
    gates.close()
  })
})
