import { expect } from 'chai'
import { isSignedBy, standardSignature } from '../../../../services/domain/webhooks/standard-signature.ts'

const SECRET = 'whsec_c2VjcmV0'
const NOW = 1_900_000_000_000
const REQUEST = { id: 'msg_1', timestamp: String(NOW / 1000), body: '{}' }
const RIGHT = `v1,${standardSignature(SECRET, REQUEST)}`
const isSigned = (header: string): boolean => isSignedBy(SECRET, REQUEST, header, NOW)

describe('a signature by Standard Webhooks', () => {
  it('may be one of several, of which the first ten are compared, so that a stranger cannot have thousands compared', () => {
    expect(isSigned(RIGHT)).to.equal(true)
    expect(isSigned(`v1,another v1a,third ${RIGHT}`)).to.equal(true)
    expect(isSigned(`v1,another, ${RIGHT}`)).to.equal(true)
    expect(isSigned('v1,another')).to.equal(false)
    expect(isSigned(`${'a '.repeat(9)}${RIGHT}`)).to.equal(true)
    expect(isSigned(`${'a '.repeat(10)}${RIGHT}`)).to.equal(false)
  })
})
