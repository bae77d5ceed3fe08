import { expect } from 'chai'
import { type DeliveredMessage, Unroutable } from '../../../../infra/broker/broker.ts'
import { createCache } from '../../../../infra/cache.ts'
import { MissingKey } from '../../../../infra/crypto/keyring.ts'
import { createMetrics } from '../../../../infra/metrics.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { Accounts } from '../../../../services/domain/money/accounts.ts'
import type { OtpReport } from '../../../../services/domain/verifications/queue-messages.ts'
import type { Commit } from '../../../../services/otp/commit.ts'
import type { FraudGuard } from '../../../../services/otp/fraud/guard.ts'
import type { Funds } from '../../../../services/otp/funds.ts'
import type { Limits } from '../../../../services/otp/limits/limits.ts'
import { createReportHandler } from '../../../../services/otp/reports/report-handler.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { newOtpDocument } from '../../../support/queued-otps.ts'
import { testKeyring } from '../../../support/tenancy.ts'

/** None of these tests sends a message. */
const noLimits = {} as Limits
const noFunds = {} as Funds
const noGuard = {} as FraudGuard

const REFUND = { type: 'delivery.refunded', company_id: 'cmp_a', otp_id: 'otp_a', delivery_id: 'dlv_a', micros: 40 }

describe('the report handler', () => {
  const clock = testClock()
  const due = (otp_id: string): OtpReport => ({ type: 'otp.due', otp_id })
  const message = (id: string, body: unknown): DeliveredMessage => ({
    id,
    body,
    attempt: 1,
    redelivered: false,
    publishedAt: 0,
  })
  const bundle = (id: string, ...otp_ids: string[]): DeliveredMessage =>
    message(id, { type: 'reports', all: otp_ids.map(otp_id => ({ id: `${otp_id}:due`, report: due(otp_id) })) })
  const captured = createCapturedLog()
  const askedApps: string[] = []
  const handlerWith = (commit: Commit, enter: Accounts['enter'] = async () => 'entered') =>
    createReportHandler({
      clock,
      commit,
      keyring: testKeyring(),
      log: captured.log,
      otps: { find: async () => [], get: async () => new Map() },
      optOuts: { stoppedChannels: async () => [], record: async () => null },
      tenancy: { providersOf: async () => ({ providers: [], unreadable: [] }) },
      companyApps: { find: async () => [], get: async () => new Map() },
      audit: { insert: async () => [] },
      accounts: { enter },
      funds: noFunds,
      guard: noGuard,
      metrics: createMetrics(),
      limits: noLimits,
      broker: { publish: async () => {} },
      isAskedFor: async () => false,
      apps: createCache(
        async id => {
          askedApps.push(id)
          return null
        },
        { ttlMs: 1, maxSize: 1, clock },
      ),
    })

  it('retries a bundle when an engine is away for one report, and still handles the others', async () => {
    const seen: string[] = []
    const handle = handlerWith(async otp_id => {
      if (otp_id === 'otp_away') throw new Unavailable('away')
      if (otp_id === 'otp_broken') throw new Error('a bug')
      seen.push(otp_id)
      return null
    })
    const outcomes = await handle([bundle('a', 'otp_away', 'otp_1', 'otp_broken'), bundle('b', 'otp_broken', 'otp_2')])
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['retry', 'threw'])
    expect(seen).to.have.members(['otp_1', 'otp_2'])
  })

  it('retries a report soon, then less often, while an engine is away or a queue is missing', async () => {
    for (const error of [new Unavailable('away'), new Unroutable('deleted')]) {
      const handle = handlerWith(() => Promise.reject(error))
      const delayAt = async (attempt: number) => (await handle([{ ...message('a', due('otp_a')), attempt }]))[0]
      for (const attempt of [1, 5]) expect(await delayAt(attempt)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
      for (const attempt of [6, 15]) expect(await delayAt(attempt)).to.deep.equal({ kind: 'retry', afterMs: 5_000 })
      for (const attempt of [16, 900]) expect(await delayAt(attempt)).to.deep.equal({ kind: 'retry', afterMs: 30_000 })
    }
  })

  it('retries a refund until the ledger has taken it', async () => {
    const handle = handlerWith(
      async () => null,
      () => Promise.reject(new Unavailable('away')),
    )
    expect(await handle([message('a', REFUND)])).to.deep.equal([{ kind: 'retry', afterMs: 1_000 }])
  })

  it('enters the refund before the charge that takes it back, and retries until the ledger has taken both', async () => {
    const recharge = { ...REFUND, type: 'delivery.recharged' }
    const entered: [string, number][] = []
    let isAway = true
    const handle = handlerWith(
      async () => null,
      async (_, { entry, micros }) => {
        if (isAway && entry === 'dlv_a:recharge') throw new Unavailable('away')
        entered.push([entry, micros])
        return 'entered'
      },
    )
    expect(await handle([message('a', recharge)])).to.deep.equal([{ kind: 'retry', afterMs: 1_000 }])
    isAway = false
    expect(await handle([message('a', recharge)])).to.deep.equal([{ kind: 'done' }])
    expect(entered).to.deep.equal([
      ['back:dlv_a', 40],
      ['back:dlv_a', 40],
      ['dlv_a:recharge', -40],
    ])
  })

  it('records a failed delivery without a fallback when the key of the verification is missing', async () => {
    const tried: unknown[] = []
    const handle = handlerWith(async (_, __, { reserve }) => {
      tried.push(reserve !== undefined)
      if (reserve) throw new MissingKey('gone')
      return null
    })
    const report = { type: 'delivery.reported', otp_id: 'otp_a', delivery_id: 'dlv_a', status: 'failed', at: 1 }
    expect(await handle([message('a', report)])).to.deep.equal([{ kind: 'done' }])
    expect(tried).to.deep.equal([true, false])
    const said = captured.lines().filter(({ msg }) => msg === 'key.missing')
    expect(said).to.have.length(1)
    expect(said[0]).to.include({ setting: 'DATA_KEYS', key_id: 'gone', otp_id: 'otp_a' })
  })

  it('looks for no other channel once the verification has expired, however early the report came', async () => {
    const doc = newOtpDocument({ keyring: testKeyring(), clock }, { rules: { auto_fallback: true } })
    const { expires_at } = doc.context
    const handle = handlerWith(async (_, __, { command }) => {
      await command(doc)
      return null
    })
    const at = expires_at - 1
    const report = { type: 'delivery.reported', otp_id: doc._id, delivery_id: 'dlv_a', status: 'failed', at }
    await clock.advance(at - clock.now())
    expect(await handle([message('a', report)])).to.deep.equal([{ kind: 'done' }])
    expect(askedApps.splice(0)).to.deep.equal([doc.app_id])
    await clock.advance(5_000)
    expect(await handle([message('a', report)])).to.deep.equal([{ kind: 'done' }])
    expect(askedApps).to.deep.equal([])
  })

  it('keeps a report as a dead letter when it needs a missing key', async () => {
    const handle = handlerWith(async () => {
      throw new MissingKey('lost')
    })
    const [outcome] = await handle([message('a', due('otp_a'))])
    expect(outcome).to.deep.equal({ kind: 'dead', reason: 'no data key has the id "lost"' })
    expect(captured.output()).to.not.include('report.failed: no data key')
  })
})
