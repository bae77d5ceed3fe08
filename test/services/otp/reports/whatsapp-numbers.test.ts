import { expect } from 'chai'
import fc from 'fast-check'
import { parseRecipient } from '../../../../services/domain/verifications/valid-recipient.ts'
import { numberOfWhatsAppId } from '../../../../services/otp/reports/whatsapp-numbers.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

describe('the number of a WhatsApp id', () => {
  const known: [string, string][] = [
    ['447911123456', '+447911123456'],
    ['+447911123456', '+447911123456'],
    ['551187654321', '+5511987654321'],
    ['5511987654321', '+5511987654321'],
    ['551134567890', '+551134567890'],
    ['5215512345678', '+525512345678'],
    ['525512345678', '+525512345678'],
    ['5491112345678', '+5491112345678'],
    ['541112345678', '+541112345678'],
    ['15511234567', '+15511234567'],
    ['', '+'],
  ]
  for (const [id, number] of known)
    it(`is ${number} for ${id || 'an empty text'}`, () => expect(numberOfWhatsAppId(id)).to.equal(number))

  it('is a valid number itself, unless it differs only in what WhatsApp writes otherwise', () => {
    const isValid = (number: string) => parseRecipient(number) !== null
    const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`))
    const national = fc.oneof(
      fc.tuple(fc.constantFrom('+54', '+549'), digits(10)),
      fc.tuple(fc.constantFrom('+52', '+521'), digits(10)),
      fc.tuple(fc.constant('+55'), fc.oneof(digits(10), digits(11))),
    )
    let valid = 0
    fc.assert(
      fc.property(national, parts => {
        const number = parts.join('')
        if (!isValid(number)) return
        valid += 1
        // Numbers that Brazil's trunked radio had: WhatsApp's id with these digits is that of the mobile number with a ninth one.
        const isRadio = /^\+55\d{2}7\d{7}$/.test(number)
        expect(numberOfWhatsAppId(number.slice(1)) === number, number).to.equal(!isRadio)
      }),
      { numRuns: propertyRuns(20_000) },
    )
    expect(valid).to.be.above(1_000)
  })
})
