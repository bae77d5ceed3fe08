import { expect } from 'chai'
import { CODE_IN_MESSAGE } from '../../../../services/domain/texts/code-in-message.ts'
import { LANGUAGES, renderMessage } from '../../../../services/domain/texts/message-text.ts'

describe('the pattern of a code in a message', () => {
  for (const locale of LANGUAGES)
    it(`finds the code in ${locale}, and nothing else`, () => {
      for (const code of ['1234', '123456', '12345678', '1234567890']) {
        const ending = null
        const { text } = renderMessage({ channel: 'sms', locale, app: 'Acme', code, minutes: 10, ending })
        expect(`error 550: ${text}`.match(CODE_IN_MESSAGE)).to.deep.equal([code])
      }
    })
})
