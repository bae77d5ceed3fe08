// The statement of a month: it adds up to the ledger, months follow each other without a gap, and exceptions are named.
import { expect } from 'chai'
import fc from 'fast-check'
import { HOUR_MS } from '../../../../infra/time.ts'
import { matchesFilter, readLedger } from '../../../../services/dashboard/money/ledger.ts'
import { readStatement } from '../../../../services/dashboard/money/statement.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import type { EntryKind, LedgerDoc } from '../../../../services/domain/money/documents.ts'
import { MONTH, monthRange } from '../../../../services/domain/money/month.ts'
import type { App } from '../../../../services/domain/tenancy/documents.ts'
import { LEDGER_COMPANY as COMPANY, type Entered, ledgerOf } from '../../../support/money.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const OCTOBER = '2026-10'
const NOVEMBER = '2026-11'
const BOUNDARY = monthRange(NOVEMBER, 'UTC').from

describe('the months of a time zone', () => {
  it('begin at midnight there, also where its clocks change in the month', () => {
    const berlin = monthRange('2026-10', 'Europe/Berlin')
    expect(new Date(berlin.from).toISOString()).to.equal('2026-09-30T22:00:00.000Z')
    expect(new Date(berlin.until).toISOString()).to.equal('2026-10-31T23:00:00.000Z')
    expect('0099-12', 'a year that `Date` takes for 1999').not.to.match(MONTH)
    expect(monthRange('2026-12', 'Pacific/Auckland').until).to.equal(monthRange('2027-01', 'Pacific/Auckland').from)
  })
})

onEmbeddedStore('the statement of a month', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  async function statements(entries: readonly Entered[], timezone = 'UTC') {
    const [ledger, apps, deletions] = [store.docs('ledger'), store.docs('apps'), store.docs('deletions')]
    await ledger.remove({ company_id: COMPANY }, 10_000)
    await ledger.insert(ledgerOf(entries))
    const company = { _id: COMPANY, seq: entries.length, settled_seq: entries.length, timezone }
    return Promise.all([OCTOBER, NOVEMBER].map(month => readStatement({ ledger, apps, deletions }, company, month)))
  }

  it('adds up to the ledger, and months follow each other without a gap, although clocks differ', async () => {
    const entry = fc.record({
      kind: fc.constantFrom<EntryKind>('credit', 'hold', 'refund', 'recharge', 'void'),
      amount: fc.integer({ min: 1, max: 5 }),
      // Around the boundary, with clocks that differ by up to 20 s.
      hours: fc.integer({ min: -30, max: 30 }),
      skewMs: fc.integer({ min: -10_000, max: 10_000 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 60 }), async drawn => {
        const entries = drawn
          .toSorted((one, other) => one.hours - other.hours)
          .map(({ kind, amount, hours, skewMs }, delivery) => ({
            kind,
            micros: kind === 'hold' || kind === 'recharge' ? -amount : amount,
            at: BOUNDARY + (hours * HOUR_MS) / 10 + skewMs,
            delivery,
          }))
        const [october, november] = await statements(entries)
        if (!october || !november) throw new Error('there are two months')
        for (const one of [october, november]) {
          const { opening_micros, credits_micros, charges_micros, refunds_micros, recharges_micros } = one
          const sum = opening_micros + credits_micros + charges_micros + refunds_micros + recharges_micros
          expect(sum).to.equal(one.closing_micros)
          const inRows = (member: 'charged_micros' | 'refunded_micros' | 'recharged_micros') =>
            one.rows.reduce((total, row) => total + row[member], 0)
          expect([inRows('charged_micros'), inRows('refunded_micros'), inRows('recharged_micros')]).to.deep.equal([
            charges_micros,
            refunds_micros,
            recharges_micros,
          ])
        }
        expect(october.opening_micros).to.equal(0)
        expect(november.opening_micros).to.equal(october.closing_micros)
        expect(november.closing_micros).to.equal(entries.reduce((sum, { micros }) => sum + micros, 0))
      }),
      { numRuns: 40 },
    )
  })

  it('tells providers and prices apart, and names what a vendor bills otherwise', async () => {
    const at = BOUNDARY + HOUR_MS
    const [october, november] = await statements([
      { kind: 'credit', micros: 100, at: BOUNDARY - HOUR_MS },
      { kind: 'hold', micros: -40, at, delivery: 1, provider: 'main', accepted: 1 },
      { kind: 'hold', micros: -40, at, delivery: 2, provider: 'main', accepted: 2 },
      { kind: 'hold', micros: -5, at, delivery: 3, provider: 'other', accepted: 0 },
      { kind: 'hold', micros: -5, at, delivery: 4, provider: null, accepted: 0 },
      { kind: 'refund', micros: 5, at, delivery: 4, provider: null },
      { kind: 'refund', micros: 40, at, delivery: 1, provider: 'main' },
      { kind: 'hold', micros: -50, at, delivery: 5 },
      { kind: 'recharge', micros: -40, at, delivery: 1, provider: 'main' },
      { kind: 'void', micros: 0, at, delivery: 5 },
      { kind: 'hold', micros: -7, at, delivery: 6, provider: 'main', accepted: 1, unanswered: 1 },
      { kind: 'hold', micros: -8, at, delivery: 7, provider: null, accepted: 0, unanswered: 2 },
      { kind: 'refund', micros: 8, at, delivery: 7, provider: null, accepted: 0, unanswered: 2 },
      { kind: 'credit', micros: 7, at },
    ])
    expect(october).to.include({ opening_micros: 0, credits_micros: 100, closing_micros: 100 })
    expect(november).to.include({ opening_micros: 100, charges_micros: -155, refunds_micros: 53, closing_micros: -35 })
    expect(
      november?.rows.map(row => [row.provider, row.unit_micros, row.charged, row.refunded, row.recharged]),
    ).to.deep.equal([
      [null, 5, 1, 1, 0],
      [null, 8, 1, 1, 0],
      [null, 50, 1, 0, 0],
      ['main', 7, 1, 0, 0],
      ['main', 40, 2, 1, 1],
      ['other', 5, 1, 0, 0],
    ])
    expect(new Set(november?.rows.map(({ month, timezone }) => `${month} ${timezone}`))).to.deep.equal(
      new Set([`${NOVEMBER} UTC`]),
    )
    expect(november?.exceptions.map(({ kind, delivery_id }) => [kind, delivery_id])).to.have.deep.members([
      ['accepted_twice', 'dlv_2'],
      ['refunded_and_delivered', 'dlv_1'],
      ['overdrawn', 'dlv_1'],
      ['maybe_accepted_twice', 'dlv_6'],
      ['overdrawn', 'dlv_6'],
      ['overdrawn', 'dlv_7'],
      ['refunded_without_answer', 'dlv_7'],
      ['paid_without_acceptance', 'dlv_3'],
    ])
  })

  it('lists a thousand exceptions and counts all, of which the ledger lists each', async () => {
    const at = BOUNDARY + HOUR_MS
    const twice = Array.from(
      { length: 1_001 },
      (_, delivery) => ({ kind: 'hold', micros: -1, at, provider: 'main', accepted: 2, delivery }) as const,
    )
    const entries = [
      { kind: 'credit', micros: 2_000, at } as const,
      { kind: 'hold', micros: -1, at, delivery: 2_001, provider: 'main', accepted: 0 } as const,
      { kind: 'hold', micros: -1, at, delivery: 2_002, provider: 'main', accepted: 1 } as const,
      ...twice,
    ]
    const [, november] = await statements(entries)
    expect(november?.exceptions).to.have.length(1_000)
    expect(november?.exception_count).to.equal(1_002)
    const read = { company_id: COMPANY, lastSeq: entries.length, before: undefined, wanted: 250 }
    const listed = async (exception: 'any' | 'accepted_twice' | 'paid_without_acceptance') => {
      const found: LedgerDoc[] = []
      const filter = { exception }
      for await (const entry of readLedger(store.docs('ledger'), { ...read, filter }))
        if (matchesFilter(filter)(entry)) found.push(entry)
      return found
    }
    expect(await listed('any')).to.have.length(1_002)
    expect(await listed('accepted_twice')).to.have.length(1_001)
    expect((await listed('paid_without_acceptance')).map(({ delivery_id }) => delivery_id)).to.deep.equal(['dlv_2001'])
  })

  it('names the apps that there are, and one that was deleted as it was called', async () => {
    const hold = { kind: 'hold', micros: -40, at: BOUNDARY + HOUR_MS } as const
    const named = async () => (await statements([hold]))[1]?.rows.map(({ app_id, app_name }) => [app_id, app_name])
    expect(await named()).to.deep.equal([['app_1', null]])
    const app: App = { _id: 'app_1', company_id: COMPANY, name: 'Shop', settings: {}, created_at: 0, rev: 1 }
    await store.docs('apps').insert([app])
    expect(await named()).to.deep.equal([['app_1', 'Shop']])
    await store.docs('apps').remove({ _id: 'app_1' }, 1)
    const deletion = { _id: 'app_1', company_id: COMPANY, name: 'Gone', closed_at: 0, asked_at: 0, done_at: 0 }
    await store.docs('deletions').insert([deletion])
    expect(await named()).to.deep.equal([['app_1', 'Gone']])
  })

  it('does not call a message paid that the next month gave back', async () => {
    const [october] = await statements([
      { kind: 'credit', micros: 100, at: BOUNDARY - HOUR_MS },
      { kind: 'hold', micros: -40, at: BOUNDARY - 1_000, delivery: 1, provider: null, accepted: 0 },
      { kind: 'refund', micros: 40, at: BOUNDARY + HOUR_MS, delivery: 1, provider: null },
    ])
    expect(october?.exceptions).to.deep.equal([])
  })
})
