import { expect } from 'chai'
import fc from 'fast-check'
import { itemsOf } from '../../../../services/domain/money/batches.ts'
import { book, type EntryRequest, enteredBatch } from '../../../../services/domain/money/booking.ts'
import {
  creditEntry,
  type Entry,
  keepHoldEntry,
  rechargeEntry,
  refundEntry,
} from '../../../../services/domain/money/documents.ts'
import { hold as testHold } from '../../../support/money.ts'

const credit = (name: string, micros: number): Entry => creditEntry(`credit:${name}`, { micros, note: null, by: null })
const KEY = 'app:GB:20000'
const hold = (name: string, micros: number, limit?: number): EntryRequest => ({
  entry: testHold('otp', name, micros),
  ...(limit === undefined ? {} : { cap: { key: KEY, limit } }),
})
const answersOf = (account: Parameters<typeof book>[0], ...wanted: EntryRequest[]) =>
  book(account, wanted, new Map()).answers

describe('booking', () => {
  const entries = fc.array(
    fc.record({ name: fc.integer({ min: 0, max: 20 }), micros: fc.integer({ min: -100, max: 100 }) }),
  )
  it('never takes the balance below zero, numbers entries without a gap, and adds up to the balance', () => {
    fc.assert(
      fc.property(fc.nat(200), entries, (balance, all) => {
        const wanted = all.map(({ name, micros }) => ({ entry: credit(String(name), micros) }))
        const { booked, answers } = book({ balance, spent: {} }, wanted, new Map([['credit:3', {}]]))
        const after = booked.reduce((sum, { entry }) => sum + entry.micros, balance)
        const items = itemsOf(enteredBatch(booked, { balance: after, seq: 7 + booked.length }, 0))
        let now = balance
        for (const [at, item] of items.entries()) {
          now += item.micros
          expect([item.balance_after, item.seq]).to.deep.equal([now, 8 + at])
          expect(now).to.be.at.least(0)
        }
        expect(answers.filter(answer => answer === 'entered')).to.have.length(items.length)
        expect(new Set(items.map(({ entry }) => entry))).to.have.length(items.length)
        expect(items.some(({ entry }) => entry === 'credit:3')).to.equal(false)
      }),
    )
  })

  it('enters every hold that still fits below a cap, answers `capped` before `short`, and counts no refused hold against the cap', () => {
    const account = { balance: 1_000, spent: { [KEY]: 20 } }
    const wanted = [hold('a', 60, 100), hold('b', 40, 100), hold('c', 20, 100), hold('d', 1, 100)]
    expect(answersOf(account, ...wanted)).to.deep.equal(['entered', 'capped', 'entered', 'capped'])
    expect(answersOf({ balance: 1_000, spent: {} }, hold('a', 1, 0), hold('b', 1)), 'a cap of 0; no cap').to.deep.equal(
      ['capped', 'entered'],
    )
    expect(answersOf({ balance: 0, spent: {} }, hold('a', 10, 5))).to.deep.equal(['capped'])
    expect(answersOf({ balance: 10, spent: {} }, hold('a', 20, 20), hold('b', 10, 10))).to.deep.equal([
      'short',
      'entered',
    ])
  })

  it('deducts a refund from the cap that its hold counts against, and from no other', () => {
    const known = new Map([
      ['hold:a', { cap_key: KEY }],
      ['hold:b', {}],
    ])
    const back = (name: string) => ({ entry: refundEntry('otp', name, 10) })
    const spend = (spent: Record<string, number>, one: EntryRequest) =>
      book({ balance: 0, spent }, [one], known).booked[0]?.spend
    expect(spend({ [KEY]: 10 }, back('a'))).to.deep.include({ key: KEY, micros: -10 })
    expect(spend({ [KEY]: 10 }, back('b')), 'held before there was a cap').to.equal(undefined)
    expect(spend({}, back('a')), 'a hold of a past day').to.equal(undefined)
    expect(spend({ [KEY]: 10 }, { entry: keepHoldEntry('otp', 'a') })?.micros, 'a kept hold stays counted').to.equal(-0)
  })

  it('lets a recharge overdraw, beyond its cap too, and then refuses holds but nothing that gives money back', () => {
    const known = new Map([['hold:a', { cap_key: KEY }]])
    const again = { entry: rechargeEntry('otp', 'a', 10) }
    const wanted = [again, again, { entry: refundEntry('otp', 'b', 4) }, { entry: credit('c', 1) }, hold('d', 1)]
    const { booked, answers } = book({ balance: 0, spent: { [KEY]: 10 } }, wanted, known)
    expect(answers).to.deep.equal(['entered', 'known', 'entered', 'entered', 'short'])
    expect(booked[0]?.spend).to.deep.include({ key: KEY, micros: 10 })
    expect(book({ balance: 0, spent: {} }, [again], known).booked[0]?.spend, 'of a past day').to.equal(undefined)
  })
})
