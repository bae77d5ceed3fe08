import { expect } from 'chai'
import { durationText, msBetween } from '../../../../services/dashboard/web/screens/verifications/duration.ts'

describe('a length of time in the dashboard', () => {
  for (const [ms, text] of [
    [-5, '0 ms'],
    [0, '0 ms'],
    [812, '812 ms'],
    [999.6, '1 s'],
    [4_000, '4 s'],
    [4_230, '4.2 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [65_000, '1 min 5 s'],
    [3_599_499, '59 min 59 s'],
    [3_599_600, '1 h'],
    [7_800_000, '2 h 10 min'],
    [86_399_000, '1 d'],
    [273_600_000, '3 d 4 h'],
  ] as const)
    it(`${ms} ms is "${text}"`, () => expect(durationText(ms)).to.equal(text))

  it('is counted between two times of the API', () => {
    expect(msBetween('2030-01-01T00:00:00.000Z', '2030-01-01T00:00:00.812Z')).to.equal(812)
  })
})
