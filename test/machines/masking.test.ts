import { expect } from 'chai'
import { maskEmail, maskPhone } from '../../machines/masking.ts'

describe('masking a recipient', () => {
  it('shows the calling code and the last two digits of a number, and hides its length', () => {
    expect(maskPhone('+447911123456', '44')).to.equal('+44****56')
    expect(maskPhone('+15005550010', '1')).to.equal('+1****10')
    expect(maskPhone('+35312345678', '353')).to.equal('+353****78')
    expect(maskPhone('+2901234', '290')).to.have.length(maskPhone('+290123456789', '290').length)
  })

  it('shows the first character and the domain of an address, and hides the length of the local part', () => {
    expect(maskEmail('ada@example.com')).to.equal('a****@example.com')
    expect(maskEmail('a@example.com')).to.equal('a****@example.com')
    expect(maskEmail('averylongname@example.com')).to.equal('a****@example.com')
  })

  it('shows a whole character, never half of a surrogate pair, and the domain after the last @', () => {
    expect(maskEmail('𝒜da@example.com')).to.equal('𝒜****@example.com')
    expect(maskEmail('öl@bücher.example')).to.equal('ö****@bücher.example')
    expect(maskEmail('"a@b"@example.com')).to.equal('"****@example.com')
  })
})
