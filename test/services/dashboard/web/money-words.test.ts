// Ledger entries and reconciliations in words.
import { expect } from 'chai'
import { entryText } from '../../../../services/dashboard/web/screens/money/ledger-words.ts'
import {
  problemText,
  reconciliationText,
} from '../../../../services/dashboard/web/screens/money/reconciliation-words.ts'

const spaced = (text: string): string => text.replaceAll('\u202f', ' ')

describe('a ledger entry in words', () => {
  it('tells a message that stays paid from one that was never made', () => {
    expect(entryText({ kind: 'void', micros: 5 })).to.equal('Given back: the message was never made')
    expect(entryText({ kind: 'void', micros: 0 })).to.equal('Stays paid: the message was sent, and erased later')
  })

  it('tells a credit that is taken back', () => {
    expect(entryText({ kind: 'credit', micros: 5 })).to.equal('Credit')
    expect(entryText({ kind: 'credit', micros: -5 })).to.equal('Credit taken back')
  })
})

describe('a reconciliation in words', () => {
  const good = { balance: 4_960_000, entries: 2, sum: 4_960_000, deliveries: 1, problems: [] }

  it('says that all agrees', () => {
    expect(reconciliationText(good)).to.equal(
      'Everything adds up: 2 entries come to 4.96, which is the balance, and 1 paid message has the right charge.',
    )
    expect(reconciliationText({ ...good, entries: 1, deliveries: 0 })).to.equal(
      'Everything adds up: 1 entry comes to 4.96, which is the balance, and there is no paid message.',
    )
    expect(reconciliationText({ balance: 0, entries: 0, sum: 0, deliveries: 0, problems: [] })).to.equal(
      'Everything adds up: nothing was ever charged or credited.',
    )
  })

  // As services/dashboard/money/reconcile.ts words them.
  for (const [problem, words] of [
    ['entry 3 is missing', 'Entry 3 of the ledger is missing.'],
    ['entry 3 leaves 40000, not -500000', 'Entry 3 says a balance of 0.04, and the entries so far come to −0.50.'],
    ['the balance is 1000000, its entries come to 0', 'The balance is 1.00, and its entries come to 0.00.'],
    [
      'cap app_1:GB:2030-01-01 has counted 5, not 0',
      'The spend cap app_1:GB:2030-01-01 has counted 0.000005, and its charges come to 0.00.',
    ],
    [
      'dlv_1: not charged again',
      'The code of the message dlv_1 was entered after its refund, and the message was not charged again.',
    ],
    ['something new', 'something new'],
  ] as const)
    it(`"${problem}" is "${words}"`, () => expect(spaced(problemText(problem))).to.equal(words))
})
