import { expect } from 'chai'
import { deletionWords, testWords } from '../../../../services/dashboard/web/screens/providers/provider-words.ts'

const NOTHING = { http_status: null, vendor_code: null, vendor_text: null, ms: 3 }

describe('the words about a deletion', () => {
  const [sms, email] = [
    { channel: 'sms', type: 'twilio', paused: false },
    { channel: 'email', type: 'smtp', paused: false },
  ] as const
  it('name the next provider only where one sends', () => {
    expect(deletionWords(sms, false, false)).to.include('take the next provider')
    expect(deletionWords(sms, true, false)).to.include('live keys can no longer send by SMS')
    expect(deletionWords({ ...sms, paused: true }, true, false)).to.include('It is paused')
    expect(deletionWords({ ...sms, type: 'pigeon' }, true, false)).to.include('this release does not know its type')
    expect(deletionWords(email, true, true)).to.include('can no longer sign in')
    expect(deletionWords(sms, true, true)).to.include('can no longer send by SMS')
  })
})

describe('the words about a test', () => {
  const words = (test: object, type: 'twilio' | 'smtp' | 'sandbox' = 'twilio') =>
    testWords({ outcome: 'refused', ...NOTHING, ...test }, type, '+14155552671')

  it('quote a refusal, and say what to look at', () => {
    const refused = words({ http_status: 401, vendor_code: '20003', vendor_text: 'Authenticate' })
    expect(refused.title).to.equal('The vendor refused the message')
    expect(refused.sentences).to.deep.equal([
      'It says: “Authenticate”',
      'It does not accept the credentials: check the secrets of this provider.',
    ])
    const advice = (test: object) => words(test, 'smtp').sentences.at(-1)
    expect(advice({ vendor_code: '535 5.7.8' })).to.include('credentials')
    expect(advice({ vendor_code: '421' })).to.include('The vendor has problems')
    expect(advice({ vendor_code: '550 5.1.1' })).to.include('this recipient')
    expect(advice({ http_status: 404 })).to.include('URL')
    expect(advice({ http_status: 429 })).to.include('no more messages')
    expect(advice({ http_status: 503 })).to.include('try again later')
    expect(advice({ http_status: 400 })).to.include('this message')
  })

  it('tell silence from an answer that says nothing', () => {
    const silent = words({ outcome: 'no_answer', vendor_text: 'it cannot be reached' })
    expect([silent.tone, silent.title, silent.sentences[0]]).to.deep.equal([
      'bad',
      'There was no answer',
      'It cannot be reached.',
    ])
    expect(words({ outcome: 'no_answer' }).sentences[0]).to.equal('The vendor did not answer.')
    const unclear = words({ outcome: 'no_answer', http_status: 504, vendor_text: 'Gateway timeout' })
    expect([unclear.tone, unclear.title]).to.deep.equal(['warning', 'The answer is not clear'])
  })
})
