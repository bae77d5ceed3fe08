import { expect } from 'chai'
import { CHAT_SENTENCES } from '../../../../services/domain/texts/languages.chat.ts'
import { REFUSAL_SENTENCES } from '../../../../services/domain/texts/languages.refusals.ts'
import { LANGUAGES, linkText } from '../../../../services/domain/texts/message-text.ts'

const REFERENCE = '23456789ABCDEFGH'

describe('the sentences in place of a code', () => {
  it('exist in every language of languages.ts, and differ from each other', () => {
    expect(Object.keys(REFUSAL_SENTENCES)).to.deep.equal(LANGUAGES)
    for (const [tag, sentences] of Object.entries(REFUSAL_SENTENCES)) {
      expect(new Set(Object.values(sentences)).size, tag).to.equal(3)
      for (const sentence of Object.values(sentences)) expect(sentence, tag).to.match(/^[^{}]{8,}$/)
    }
  })
})

describe('the sentences of a chat', () => {
  it('exist in every language of languages.ts', () => {
    expect(Object.keys(CHAT_SENTENCES)).to.deep.equal(LANGUAGES)
  })

  for (const [tag, { confirms, requests, reference, approved, asksContact }] of Object.entries(CHAT_SENTENCES))
    it(`in ${tag} have their placeholders, each once, and differ from each other`, () => {
      const placeholders = (text: string) => [...text.matchAll(/\{.*?\}/g)].map(([found]) => found)
      for (const sentence of [confirms, requests, approved, asksContact])
        expect(placeholders(sentence)).to.deep.equal(['{app}'])
      expect(placeholders(reference)).to.deep.equal(['{reference}'])
      expect(new Set([confirms, requests, approved, asksContact]).size).to.equal(4)
    })

  it('contain an app’s name unchanged, even if it looks like a placeholder', () => {
    for (const app of ['{reference}', '$&', '{app}', '{toString}'])
      expect(linkText('en', 'link_code', app, REFERENCE)).to.equal(
        `Please send me my code for ${app}.\nReference: ${REFERENCE}`,
      )
  })
})
