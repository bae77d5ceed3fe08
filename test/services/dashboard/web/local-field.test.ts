import { expect } from 'chai'
import fc from 'fast-check'
import { fromLocalField, toLocalField } from '../../../../services/dashboard/web/data/local-field.ts'

const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map(at => at.toISOString())

describe('a time in a field without a zone', () => {
  it('is read in the zone in which it was shown, to the minute', () => {
    const at = new Date(2030, 0, 31, 9, 5, 59).toISOString()
    expect(toLocalField(at)).to.equal('2030-01-31T09:05')
    expect(fromLocalField(toLocalField(at))).to.equal(new Date(2030, 0, 31, 9, 5).toISOString())
  })

  it('is the same minute in UTC, in any time zone', () => {
    fc.assert(
      fc.property(time, iso => {
        const minute = new Date(Math.floor(Date.parse(iso) / 60_000) * 60_000).toISOString()
        // An hour that the clocks repeat in autumn has two meanings.
        const back = fromLocalField(toLocalField(iso))
        expect(Math.abs(Date.parse(back) - Date.parse(minute))).to.be.oneOf([0, 3_600_000])
      }),
    )
  })

  it('is empty while it is not complete', () => {
    expect([fromLocalField(''), fromLocalField('soon')]).to.deep.equal(['', ''])
    expect(toLocalField('')).to.equal('')
  })
})
