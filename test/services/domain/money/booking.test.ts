import { expect } from 'chai'
import fc from 'fast-check'
import { itemsOf } from '../../../../services/domain/money/batches.ts'
import { book, type EntryRequest, enteredBatch } from '../../../../services/domain/money/booking.ts'
import { type Entry, holdEntry, keepHoldEntry, refundEntry } from '../../../../services/domain/money/documents.ts'

const credit = (name: string, micros: number): Entry => ({
  entry: `credit:${name}`,
  kind: 'credit',
  micros,
  otp_id: null,
  delivery_id: null,
  note: null,
})
const KEY = 'app:GB:20000'
const hold = (name: string, micros: number, limit?: number): EntryRequest => ({
  entry: holdEntry('otp', name, micros),
  ...(limit === undefined ? {} : { cap: { key: KEY, limit } }),
})
const answersOf = (account: Parameters<typeof book>[0], ...wanted: EntryRequest[]) =>
  book(account, wanted, new Map()).answers

describe('booking', () => {
  const entries = fc.array(
    fc.record({ name: fc.integer({ min: 0, max: 20 }), micros: fc.integer({ min: -100, max: 100 }) }),
  )
  it('never goes below zero, leaves no gap, and sums up to the balance', () => {
    fc.assert(
      fc.property(fc.nat(200), entries, (balance, all) => {
        const wanted = all.map(({ name, micros }) => ({ entry: credit(String(name), micros) }))
        const { booked, answers } = book({ balance }, wanted, new Map([['credit:3', {}]]))
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

  it('uses the room below a cap up to the last, by whatever still fits', () => {
    const account = { balance: 1_000, spent: { [KEY]: 20 } }
    const wanted = [hold('a', 60, 100), hold('b', 40, 100), hold('c', 20, 100), hold('d', 1, 100)]
    expect(answersOf(account, ...wanted)).to.deep.equal(['entered', 'capped', 'entered', 'capped'])
    expect(answersOf({ balance: 1_000 }, hold('a', 1, 0), hold('b', 1)), 'no room; no cap').to.deep.equal([
      'capped',
      'entered',
    ])
  })

  it('says that there is no room before it says that there is no money, and takes none for what is not paid', () => {
    expect(answersOf({ balance: 0 }, hold('a', 10, 5))).to.deep.equal(['capped'])
    expect(answersOf({ balance: 10 }, hold('a', 20, 20), hold('b', 10, 10))).to.deep.equal(['short', 'entered'])
  })

  it('gives room back with the hold that took it, and with no other', () => {
    const known = new Map([
      ['hold:a', { room: KEY }],
      ['hold:b', {}],
    ])
    const back = (name: string) => ({ entry: refundEntry('otp', name, 10) })
    const spend = (spent: Record<string, number>, one: EntryRequest) =>
      book({ balance: 0, spent }, [one], known).booked[0]?.spend
    expect(spend({ [KEY]: 10 }, back('a'))).to.deep.include({ key: KEY, micros: -10 })
    expect(spend({ [KEY]: 10 }, back('b')), 'held before there was a cap').to.equal(undefined)
    expect(spend({}, back('a')), 'of a day that is over').to.equal(undefined)
    expect(spend({ [KEY]: 10 }, { entry: keepHoldEntry('otp', 'a') })?.micros, 'it stays paid').to.equal(-0)
  })
})
