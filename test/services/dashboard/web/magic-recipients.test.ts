import { expect } from 'chai'
import { magicOf } from '../../../../machines/magic-recipients.ts'
import { magicRecipients, WORKING_RECIPIENT } from '../../../../services/dashboard/web/screens/try/magic-recipients.ts'

describe('the magic recipients of Try it', () => {
  it('are all that the sandbox knows, each with an outcome in words', () => {
    expect(magicRecipients).to.have.length(13)
    for (const { number, address, outcome } of magicRecipients) {
      expect(magicOf('test', number)).not.to.equal(null)
      expect(magicOf('test', address)).to.deep.equal(magicOf('test', number))
      expect(outcome)
        .to.match(/^[A-Z][a-z]/)
        .and.not.to.contain('Error')
    }
  })

  it('begin with one that simply works', () => {
    expect(magicOf('test', WORKING_RECIPIENT)).to.deep.equal({ scenario: 'delivered' })
  })
})
