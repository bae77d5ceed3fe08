// The statement of a month: it adds up to the ledger, months follow each other without a gap, and exceptions are named.
import { expect } from 'chai'
import fc from 'fast-check'
import { HOUR_MS } from '../../../../infra/time.ts'
import { readStatement } from '../../../../services/dashboard/money/statement.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { type EntryKind, type LedgerDoc, ledgerId } from '../../../../services/domain/money/documents.ts'
import { monthRange } from '../../../../services/domain/money/month.ts'
import { PAID_MESSAGE } from '../../../support/money.ts'
import { eachStore } from '../../../support/stores.ts'

const COMPANY = 'cmp_1'
const OCTOBER = '2026-10'
const NOVEMBER = '2026-11'
const BOUNDARY = monthRange(NOVEMBER, 'UTC').from

interface Entered {
  kind: EntryKind
  micros: number
  at: number
  delivery?: number
  provider?: string | null
  accepted?: number
}

/** A ledger as accounts would have entered it. */
function ledgerOf(entries: readonly Entered[]): LedgerDoc[] {
  let balance_after = 0
  return entries.map(({ kind, micros, at, delivery = 0, ...settled }, nth) => {
    balance_after += micros
    const isCredit = kind === 'credit'
    const delivery_id = isCredit ? null : `dlv_${delivery}`
    const names = { credit: `credit:${nth}`, hold: `hold:${delivery_id}`, recharge: `${delivery_id}:recharge` }
    return {
      _id: ledgerId(COMPANY, nth + 1),
      company_id: COMPANY,
      rev: 1,
      seq: nth + 1,
      entry: kind in names ? names[kind as keyof typeof names] : `back:${delivery_id}`,
      kind,
      micros,
      at,
      balance_after,
      otp_id: isCredit ? null : 'otp_1',
      delivery_id,
      note: null,
      by: null,
      message: isCredit ? null : PAID_MESSAGE,
      ...settled,
    }
  })
}

describe('the months of a time zone', () => {
  it('begin at midnight there, also where its clocks change in the month', () => {
    const berlin = monthRange('2026-10', 'Europe/Berlin')
    expect(new Date(berlin.from).toISOString()).to.equal('2026-09-30T22:00:00.000Z')
    expect(new Date(berlin.until).toISOString()).to.equal('2026-10-31T23:00:00.000Z')
    expect(monthRange('2026-12', 'Pacific/Auckland').until).to.equal(monthRange('2027-01', 'Pacific/Auckland').from)
  })
})

eachStore('the statement of a month', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  async function statements(entries: readonly Entered[], timezone = 'UTC') {
    const ledger = store.docs('ledger')
    await ledger.remove({ company_id: COMPANY }, 10_000)
    await ledger.insert(ledgerOf(entries))
    const company = { _id: COMPANY, seq: entries.length, settled_seq: entries.length, timezone }
    return Promise.all([OCTOBER, NOVEMBER].map(month => readStatement(ledger, company, month)))
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
    ])
    expect(october).to.include({ opening_micros: 0, credits_micros: 100, closing_micros: 100 })
    expect(november).to.include({ opening_micros: 100, charges_micros: -140, refunds_micros: 45, closing_micros: -35 })
    expect(
      november?.rows.map(row => [row.provider, row.unit_micros, row.charged, row.refunded, row.recharged]),
    ).to.deep.equal([
      [null, 5, 1, 1, 0],
      [null, 50, 1, 0, 0],
      ['main', 40, 2, 1, 1],
      ['other', 5, 1, 0, 0],
    ])
    expect(november?.exceptions.map(({ kind, delivery_id }) => [kind, delivery_id])).to.have.deep.members([
      ['accepted_twice', 'dlv_2'],
      ['refunded_and_delivered', 'dlv_1'],
      ['overdrawn', 'dlv_1'],
      ['paid_without_acceptance', 'dlv_3'],
    ])
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
