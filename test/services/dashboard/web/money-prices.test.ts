// Prices as a table of countries and channels.
import { expect } from 'chai'
import {
  cellKey,
  checkDraft,
  countriesOf,
  draftOf,
  listOf,
  type Price,
  priceIn,
  pricesOf,
  rebase,
  scheduleChanges,
  scheduledIn,
} from '../../../../services/dashboard/web/screens/money/price-table.ts'

const LIST: Price[] = [
  { channel: 'sms', country: '*', micros: 90_000 },
  { channel: 'sms', country: 'US', micros: 7_500 },
  { channel: 'sms', country: 'GB', micros: 40_000 },
  { channel: 'whatsapp', country: 'US', micros: 0 },
  { channel: 'whatsapp', kind: 'reply', country: 'US', micros: 1_000 },
]
const PRICES = pricesOf(LIST)

describe('the table of prices', () => {
  it('has a row for each country with a price, the default first', () => {
    expect(countriesOf(PRICES)).to.deep.equal(['*', 'GB', 'US'])
    expect(countriesOf(new Map())).to.deep.equal(['*'])
  })

  it('shows what a message costs: its own price, the default, or nothing', () => {
    expect(priceIn(PRICES, 'sms', 'GB')).to.equal(40_000)
    expect(priceIn(PRICES, 'sms', 'DE')).to.equal(90_000)
    expect(priceIn(PRICES, 'whatsapp', 'US')).to.equal(0)
    expect(priceIn(PRICES, 'email', 'US')).to.equal(0)
    expect(priceIn(PRICES, 'reply', 'US')).to.equal(1_000)
  })

  it('has prices that are scheduled, the next one first, and keeps them in the list', () => {
    const scheduled: Price[] = [
      { channel: 'sms', country: 'FR', micros: 2, effective_at: '2031-01-01T00:00:00.000Z' },
      { channel: 'whatsapp', kind: 'reply', country: 'US', micros: 1, effective_at: '2030-01-01T00:00:00.000Z' },
    ]
    const prices = pricesOf([...LIST, ...scheduled])
    expect(listOf(prices)).to.deep.equal([...LIST, ...scheduled])
    expect(scheduledIn(prices).map(({ priced, country, micros }) => [priced, country, micros])).to.deep.equal([
      ['reply', 'US', 1],
      ['sms', 'FR', 2],
    ])
    expect(priceIn(prices, 'sms', 'FR')).to.equal(90_000)
    expect(countriesOf(prices)).to.deep.equal(['*', 'FR', 'GB', 'US'])
  })

  it('keeps what holds now when changes are scheduled; no price can be removed later', () => {
    const after = new Map(PRICES).set(cellKey('sms', 'GB'), 1).set(cellKey('email', '*'), 2)
    const at = '2031-01-01T00:00:00.000Z'
    const scheduled = scheduleChanges(PRICES, after, at)
    expect(scheduled && listOf(scheduled)).to.have.deep.members([
      ...LIST,
      { channel: 'sms', country: 'GB', micros: 1, effective_at: at },
      { channel: 'email', country: '*', micros: 2, effective_at: at },
    ])
    after.delete(cellKey('sms', 'US'))
    expect(scheduleChanges(PRICES, after, at)).to.equal(null)
  })

  it('knows a price of zero from no price', () => {
    const draft = new Map([
      [cellKey('sms', 'GB'), '0'],
      [cellKey('sms', 'US'), ' '],
    ])
    expect([...checkDraft(draft).prices]).to.deep.equal([['sms:GB', 0]])
  })

  it("puts own edits on top of another operator's, and keeps theirs elsewhere", () => {
    const draft = new Map(draftOf(PRICES)).set(cellKey('sms', 'GB'), '0.05').set(cellKey('telegram', '*'), '0.01')
    draft.delete(cellKey('whatsapp', 'US'))
    const theirs = pricesOf([
      { channel: 'sms', country: '*', micros: 80_000 },
      { channel: 'sms', country: 'GB', micros: 30_000 },
      { channel: 'whatsapp', country: 'US', micros: 0 },
      { channel: 'email', country: '*', micros: 5 },
    ])
    const { prices } = checkDraft(rebase(draft, PRICES, theirs))
    expect(Object.fromEntries(prices)).to.deep.equal({
      'sms:*': 80_000,
      'sms:GB': 50_000,
      'telegram:*': 10_000,
      'email:*': 5,
    })
  })
})
