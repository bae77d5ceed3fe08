// What messages cost, in the statistics: each entry of the ledger is counted once, and months are those of the statement.
import { expect } from 'chai'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import { CHANNELS } from '../../../machines/channels.ts'
import { readStatement } from '../../../services/dashboard/money/statement.ts'
import type { StatsRowAnswer } from '../../../services/dashboard/stats/schemas.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import type { EntryKind } from '../../../services/domain/money/documents.ts'
import { monthRange } from '../../../services/domain/money/month.ts'
import { createSpendSweeps } from '../../../services/sweeper/spend.ts'
import { closeAdmins, startAdmin } from '../../support/admin-api.ts'
import { testClock } from '../../support/clock.ts'
import { type Entered, LEDGER_COMPANY, ledgerOf } from '../../support/money.ts'
import { addApp } from '../../support/sent-otp.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

const MONTHS = ['2026-10', '2026-11']
const BOUNDARY = monthRange('2026-11', 'UTC').from
const APPS = ['app_1', 'app_2']

const entered: fc.Arbitrary<Entered & { skewMs: number }> = fc
  .record({
    kind: fc.constantFrom<EntryKind>('credit', 'hold', 'refund', 'recharge', 'void'),
    amount: fc.integer({ min: 1, max: 5 }),
    app_id: fc.constantFrom(...APPS),
    channel: fc.constantFrom(...CHANNELS),
    country: fc.constantFrom('GB', 'FR', null),
    // Around the boundary of two months, with clocks that differ by up to 20 s.
    minutes: fc.integer({ min: -300, max: 300 }),
    skewMs: fc.integer({ min: -10_000, max: 10_000 }),
  })
  .map(({ kind, amount, minutes, app_id, channel, country, skewMs }) => ({
    kind,
    micros: kind === 'hold' || kind === 'recharge' ? -amount : amount,
    at: BOUNDARY + minutes * MINUTE_MS,
    message: { app_id, channel, country },
    skewMs,
  }))

eachStore('what messages cost, in the statistics', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  afterEach(closeAdmins)

  async function enter(entries: readonly Entered[]): Promise<void> {
    await store.docs('ledger').insert(ledgerOf(entries))
    const account = { ...openAccount(LEDGER_COMPANY, 0, 0), seq: entries.length }
    await store
      .docs('companies')
      .insert([{ _id: LEDGER_COMPANY, name: 'One', ...account, created_at: 0, rev: 0, timezone: 'UTC' }])
    for (const app of APPS) await addApp(store, {}, app)
  }

  it('is that of the statement of each month, by app, channel and country, whatever is cut off and repeated', async () => {
    const drawn = fc.sample(fc.array(entered, { minLength: 450, maxLength: 450 }), { numRuns: 1, seed: 7 })[0] ?? []
    const entries = drawn
      .toSorted((one, other) => one.at - other.at)
      .map(({ skewMs, ...entry }, delivery) => ({ ...entry, at: entry.at + skewMs, delivery }))
    await enter(entries)
    const clock = testClock(BOUNDARY + 5 * DAY_MS)
    let writes = 0
    const failing = interceptWrites(store, {
      before: call => {
        writes += 1
        if (writes % 3 === 0) throw new Error(`cut off before ${call}`)
      },
      after: call => {
        if (writes % 7 === 0) throw new Error(`cut off after ${call}`)
      },
    })
    const sweepers = [failing, failing, store].map(on => createSpendSweeps({ store: on, clock }).spend)
    for (let round = 0; round < 30; round += 1) {
      await Promise.allSettled(sweepers.map(sweep => sweep?.([0])))
      await clock.advance(MINUTE_MS)
    }
    const admin = await startAdmin(store, { clock })
    const statsOf = async (app: string, month: string, query: string): Promise<StatsRowAnswer[]> => {
      const { from, until } = monthRange(month, 'UTC')
      const range = `since=${new Date(from).toISOString()}&until=${new Date(until).toISOString()}`
      return (await admin.get(`/apps/${app}/stats?bucket=day&${range}${query}`)).body.items
    }
    for (const month of MONTHS) {
      const docs = { ledger: store.docs('ledger'), apps: store.docs('apps'), deletions: store.docs('deletions') }
      const company = { _id: LEDGER_COMPANY, seq: entries.length, timezone: 'UTC' }
      const { rows } = await readStatement(docs, company, month)
      const cost = (wanted: (row: (typeof rows)[number]) => boolean) =>
        rows
          .filter(wanted)
          .reduce((sum, row) => sum - row.charged_micros - row.refunded_micros - row.recharged_micros, 0)
      for (const app of APPS) {
        const inStats = (await statsOf(app, month, '')).reduce((sum, row) => sum + (row.spend_micros ?? 0), 0)
        expect(inStats, `${app} in ${month}`).to.equal(cost(row => row.app_id === app))
        for (const by of ['channel', 'country'] as const)
          for (const value of by === 'channel' ? CHANNELS : ['GB', 'FR', null]) {
            const found = (await statsOf(app, month, `&by=${by}`)).filter(row => row[by] === value)
            const sum = found.reduce((total, row) => total + (row.spend_micros ?? 0), 0)
            expect(sum, `${app} in ${month}, ${value}`).to.equal(cost(row => row.app_id === app && row[by] === value))
          }
      }
      const { charges_micros, refunds_micros, recharges_micros } = await readStatement(docs, company, month)
      expect(cost(() => true)).to.equal(-charges_micros - refunds_micros - recharges_micros)
    }
  })

  it('is in the hour of the entry: a message that is given back later makes that hour cheaper', async () => {
    const hold = { kind: 'hold', micros: -40, at: BOUNDARY, delivery: 1 } as const
    await enter([hold, { ...hold, kind: 'refund', micros: 40, at: BOUNDARY + HOUR_MS }])
    const clock = testClock(BOUNDARY + 2 * HOUR_MS)
    await createSpendSweeps({ store, clock }).spend?.([0])
    const admin = await startAdmin(store, { clock })
    const rows = async (query = ''): Promise<StatsRowAnswer[]> =>
      (await admin.get(`/apps/app_1/stats?since=${new Date(BOUNDARY).toISOString()}${query}`)).body.items
    expect((await rows()).map(row => row.spend_micros)).to.deep.equal([40, -40, 0])
    expect((await rows('&mode=test')).map(row => row.spend_micros)).to.deep.equal([0, 0, 0])
    expect((await rows('&by=provider')).map(row => row.spend_micros)).to.deep.equal([])
  })
})
