// The record of refusals: every one is counted, a bounded number of them is stored, and no caller waits for the store.
import { expect } from 'chai'
import { createMetrics } from '../../../../infra/metrics.ts'
import type { Docs } from '../../../../infra/store/docs.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { RefusalDoc } from '../../../../services/domain/refusals/documents.ts'
import {
  type CountedRefusal,
  createRefusalLog,
  MAX_REFUSALS_PER_MINUTE,
  type NewRefusal,
} from '../../../../services/domain/refusals/refusal-log.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'

const DAY_MS = 86_400_000
const BY = { company_id: 'cmp_1', app_id: 'app_1', mode: 'live', key_id: 'key_1', kind: 'server' } as const
const REFUSAL: NewRefusal = {
  by: BY,
  call: 'send',
  request_id: 'req-1',
  type: 'RateLimitExceededError',
  scope: 'recipient',
  recipient: { country: 'GB', masked: '+44****56', index: 'index' },
  retentionMs: 30 * DAY_MS,
}

describe('the record of refusals', () => {
  function start(insert: (docs: readonly RefusalDoc[]) => Promise<unknown> = async () => {}) {
    const clock = testClock()
    const captured = createCapturedLog()
    const metrics = createMetrics()
    const stored: RefusalDoc[] = []
    const calls: number[] = []
    const counted: CountedRefusal[] = []
    const refusals = {
      async insert(docs: readonly RefusalDoc[]) {
        calls.push(docs.length)
        await insert(docs)
        stored.push(...docs)
        return docs.map(() => 'inserted' as const)
      },
    } as unknown as Docs<RefusalDoc>
    const log = createRefusalLog({
      refusals,
      clock,
      log: captured.log,
      metrics,
      onRefusal: refusal => void counted.push(refusal),
    })
    return { clock, captured, metrics, stored, calls, counted, log }
  }

  it('stores what the admin API shows, for seven days', async () => {
    const { log, stored, clock } = start()
    log.record(REFUSAL)
    await log.settled()
    const [{ _id, ...doc } = { _id: '' }] = stored
    expect(_id).to.match(/^rfs_/)
    expect(doc).to.deep.equal({
      company_id: 'cmp_1',
      app_id: 'app_1',
      mode: 'live',
      key_id: 'key_1',
      at: clock.now(),
      request_id: 'req-1',
      type: 'RateLimitExceededError',
      scope: 'recipient',
      country: 'GB',
      masked: '+44****56',
      recipient: 'index',
      purge_at: new Date(clock.now() + 7 * DAY_MS),
    })
  })

  it('keeps a recipient no longer than the app keeps recipients', async () => {
    const { log, stored, clock } = start()
    log.record({ ...REFUSAL, retentionMs: 3 * DAY_MS })
    await log.settled()
    expect(stored[0]?.purge_at).to.deep.equal(new Date(clock.now() + 3 * DAY_MS))
  })

  it('stores a bounded number a minute of each app, in few writes, and counts the rest', async () => {
    const { log, stored, calls, counted, clock, metrics } = start()
    for (let nth = 0; nth < 10_000; nth += 1) log.record(REFUSAL)
    log.record({ ...REFUSAL, by: { ...BY, app_id: 'app_2' } })
    log.record({ ...REFUSAL, call: 'resend', type: 'ResendCooldownError', scope: 'resend_cooldown' })
    await log.settled()
    const storedOf = (app_id: string) => stored.filter(doc => doc.app_id === app_id && doc.scope === 'recipient').length
    expect([storedOf('app_1'), storedOf('app_2')]).to.deep.equal([MAX_REFUSALS_PER_MINUTE, 1])
    expect(
      stored.filter(({ type }) => type === 'ResendCooldownError'),
      'resends have a number of their own',
    ).to.have.length(1)
    expect(calls.length, 'writes').to.be.at.most(2)
    expect(counted).to.have.length(10_002)
    expect(counted[0]).to.deep.equal({
      ...BY,
      call: 'send',
      type: 'RateLimitExceededError',
      scope: 'recipient',
      country: 'GB',
      at: clock.now(),
    })
    const { body } = await metrics.render()
    expect(body).to.include(
      'countersign_refusals_total{mode="live",type="RateLimitExceededError",scope="recipient"} 10001',
    )
    await clock.advance(60_000)
    log.record(REFUSAL)
    await log.settled()
    expect(storedOf('app_1')).to.equal(MAX_REFUSALS_PER_MINUTE + 1)
  })

  for (const [what, flood, kind] of [
    ['servers while devices flood the app with theirs', {}, 'server'],
    ['devices while others must solve challenges', { type: 'ChallengeRequiredError', scope: null }, 'publishable'],
  ] as const)
    it(`stores the refusals of ${what}`, async () => {
      const { log, stored } = start()
      const by = { ...BY, key_id: 'pk', kind: 'publishable' } as const
      for (let nth = 0; nth < 1_000; nth += 1) log.record({ ...REFUSAL, by, ...flood })
      log.record({ ...REFUSAL, by: { ...BY, kind } })
      await log.settled()
      expect(stored).to.have.length(MAX_REFUSALS_PER_MINUTE + 1)
      expect(stored.at(-1)).to.include({ key_id: 'key_1', type: 'RateLimitExceededError' })
    })

  it('loses what a store that is away does not take, and says so', async () => {
    const { log, captured, counted } = start(() => Promise.reject(new Unavailable('away')))
    log.record(REFUSAL)
    await log.settled()
    expect(counted).to.have.length(1)
    expect(captured.lines().map(({ msg }) => msg)).to.deep.equal(['refusal.lost'])
  })

  it('keeps a bounded number in memory while the store hangs', async () => {
    let release = (): void => {}
    const hanging = new Promise<void>(resolve => {
      release = resolve
    })
    const { log, stored, counted } = start(() => hanging)
    for (let app = 0; app < 5_000; app += 1) log.record({ ...REFUSAL, by: { ...BY, app_id: `app_${app}` } })
    release()
    await log.settled()
    expect(counted).to.have.length(5_000)
    expect(stored).to.have.length(1_000)
  })
})
