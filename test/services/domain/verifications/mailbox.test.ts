import { expect } from 'chai'
import fc from 'fast-check'
import { mailboxOf } from '../../../../services/domain/verifications/mailbox.ts'
import { parseRecipient } from '../../../../services/domain/verifications/valid-recipient.ts'

describe('the mailbox of a recipient', () => {
  for (const [recipient, mailbox] of [
    ['Ada@example.com', 'ada@example.com'],
    ['ada+shop@example.com', 'ada@example.com'],
    ['ada+a+b@example.com', 'ada@example.com'],
    ['ada.lovelace@example.com', 'ada.lovelace@example.com'],
    ['A.d.a+shop@gmail.com', 'ada@gmail.com'],
    ['a.da@googlemail.com', 'ada@gmail.com'],
    ['+ada@example.com', '+ada@example.com'],
    ['+447911123456', '+447911123456'],
  ] as const)
    it(`of ${recipient} is ${mailbox}`, () => expect(mailboxOf(recipient)).to.equal(mailbox))

  it('does not change when it is taken again, and is never empty before the at sign', () =>
    fc.assert(
      fc.property(fc.emailAddress(), address => {
        const parsed = parseRecipient(address)
        fc.pre(parsed !== null)
        const mailbox = mailboxOf(parsed.value)
        expect(mailboxOf(mailbox)).to.equal(mailbox)
        expect(mailbox.indexOf('@')).to.be.above(0)
      }),
    ))
})
