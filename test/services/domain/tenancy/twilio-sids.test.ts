import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../../infra/ids.ts'
import { otpIdOfSid, twilioSid } from '../../../../services/domain/tenancy/twilio-sids.ts'

describe("Twilio's SID", () => {
  it('of a verification leads back to it, and sorts as it does', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })
    fc.assert(
      fc.property(time, time, (one, other) => {
        const [first, second] = [newId('otp', one), newId('otp', other)]
        const [firstSid, secondSid] = [twilioSid('otp', first), twilioSid('otp', second)]
        expect(firstSid).to.match(/^VE[0-9a-f]{32}$/)
        expect(otpIdOfSid(firstSid)).to.equal(first)
        expect(otpIdOfSid(firstSid.toUpperCase())).to.equal(first)
        expect(firstSid < secondSid).to.equal(first < second)
      }),
    )
  })

  it('is the ULID as hex digits, and of an id without one the first digits of its SHA-256', () => {
    expect(twilioSid('app', 'app_00000000000000000000000001')).to.equal(`VA${'1'.padStart(32, '0')}`)
    expect(twilioSid('app', 'app_7zzzzzzzzzzzzzzzzzzzzzzzzz')).to.equal(`VA${'f'.repeat(32)}`)
    expect(twilioSid('cmp', 'cmp_demo')).to.equal('ACd5d370bba3ff732aa2d6197e2f2155be')
    expect(twilioSid('app', 'app_8zzzzzzzzzzzzzzzzzzzzzzzzz'), 'more than 128 bits').to.not.equal(
      twilioSid('app', 'app_0zzzzzzzzzzzzzzzzzzzzzzzzz'),
    )
  })

  it('of anything else is no verification', () => {
    for (const text of ['', 'VE', `VA${'0'.repeat(32)}`, `VE${'0'.repeat(31)}`, `VE${'g'.repeat(32)}`, '+14155550000'])
      expect(otpIdOfSid(text), text).to.equal(null)
  })
})
