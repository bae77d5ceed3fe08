// What the overview shows, as it stands in the address.
import { expect } from 'chai'
import fc from 'fast-check'
import {
  MODE_OPTIONS,
  queryOf,
  RANGE_OPTIONS,
  readChoice,
  SPLIT_OPTIONS,
} from '../../../../services/dashboard/web/screens/overview/choice.ts'

const of = <T>(options: readonly { value: T }[]) => fc.constantFrom(...options.map(({ value }) => value))

describe('the choice of the overview in the address', () => {
  it('is the usual one without a query, and where a value is none of the choices', () => {
    const usual = { range: '24h', mode: 'both', by: 'none' }
    expect(readChoice({})).to.deep.equal(usual)
    expect(readChoice({ range: '1y', mode: 'LIVE', by: '__proto__' })).to.deep.equal(usual)
  })

  it('is read as it was written', () => {
    fc.assert(
      fc.property(of(RANGE_OPTIONS), of(MODE_OPTIONS), of(SPLIT_OPTIONS), (range, mode, by) => {
        const choice = { range, mode, by }
        expect(readChoice(Object.fromEntries(new URLSearchParams(queryOf(choice))))).to.deep.equal(choice)
      }),
    )
    expect(queryOf({ range: '24h', mode: 'both', by: 'none' })).to.equal('')
  })
})
