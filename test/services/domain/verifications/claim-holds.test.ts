import { expect } from 'chai'
import { newId } from '../../../../infra/ids.ts'
import { isAbandoned } from '../../../../services/domain/verifications/claim-holds.ts'

const NOW = Date.UTC(2030, 0, 1)
const SECOND = 1_000

describe('a claim without a verification', () => {
  const abandoned = (idAgeSeconds: number, heldForSeconds: number): boolean =>
    isAbandoned({ otp_id: newId('otp', NOW - idAgeSeconds * SECOND), held_until: NOW + heldForSeconds * SECOND }, NOW)

  it('is waited for while a call holds it, and leads to the same verification for half a minute after that', () => {
    expect(abandoned(1, 29)).to.equal(false)
    expect(abandoned(600, 1)).to.equal(false)
    expect(abandoned(30, 0)).to.equal(false)
    expect(abandoned(59, -29)).to.equal(false)
    expect(abandoned(60, -30)).to.equal(true)
  })

  it('is abandoned at the end of its hold when calls have taken over its id for more than a minute', () => {
    expect(abandoned(60, 0)).to.equal(false)
    expect(abandoned(61, 0)).to.equal(true)
  })
})
