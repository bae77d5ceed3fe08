import { expect } from 'chai'
import { samePhone } from '../../../../services/otp/reports/whatsapp-numbers.ts'

describe('comparing phone numbers', () => {
  const same: [string, string][] = [
    ['+447911123456', '447911123456'],
    ['+5511987654321', '551187654321'],
    ['+525512345678', '5215512345678'],
    ['+541112345678', '5491112345678'],
  ]
  for (const [ours, theirs] of same)
    it(`takes ${ours} and ${theirs} for the same`, () => expect(samePhone(ours, theirs)).to.equal(true))

  const different: [string, string][] = [
    ['+447911123456', '447911123457'],
    ['+5511987654321', '551187654322'],
    ['+5511987654321', '5521987654321'],
    ['+5511934567890', '551134567890'],
    ['+15511234567', '5511234567'],
    ['+447911123456', ''],
  ]
  for (const [ours, theirs] of different)
    it(`tells ${ours} from ${theirs || 'an empty text'}`, () => expect(samePhone(ours, theirs)).to.equal(false))
})
