// What the console says of a resend is what machines/resend.ts does.
import { expect } from 'chai'
import { resendWords } from '../../../../services/dashboard/web/screens/verifications/resend-words.ts'

const live = { action_url: null, masked_recipient: '+1****01', mode: 'live' } as const

describe('a resend in words', () => {
  it('is one more message, on the next channel or the last one again', () => {
    expect(resendWords(live).text).to.equal(
      '+1****01 gets one more message: on the next usable channel of the order or, if none is left, on the last one again. It costs what a message there costs.',
    )
    expect(resendWords({ ...live, mode: 'test' }).text).to.match(/In test mode it costs nothing\.$/)
  })

  it('sends and costs nothing while it waits on a wa.me link, and uses up a send', () => {
    const { text, done } = resendWords({ ...live, action_url: 'https://wa.me/15550001111?text=K7Q2' })
    expect(text).to.contain('Nothing is sent and nothing is charged').and.to.contain('One send is used up')
    expect(done).to.equal('Nothing was sent: the link is the same.')
  })
})
