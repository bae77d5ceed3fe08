import { expect } from 'chai'
import { CHAT_SENTENCES } from '../../../../services/domain/texts/languages.chat.ts'
import { approvedText, LANGUAGES, linkText } from '../../../../services/domain/texts/message-text.ts'

const REFERENCE = '23456789ABCDEFGH'

describe('the texts of a chat', () => {
  it('are there in every language there are texts in', () => {
    expect(Object.keys(CHAT_SENTENCES)).to.deep.equal(LANGUAGES)
  })

  for (const [tag, { confirms, requests, reference, approved }] of Object.entries(CHAT_SENTENCES))
    it(`in ${tag} say what they must, each thing once`, () => {
      const placeholders = (text: string) => [...text.matchAll(/\{.*?\}/g)].map(([found]) => found)
      for (const sentence of [confirms, requests, approved]) expect(placeholders(sentence)).to.deep.equal(['{app}'])
      expect(placeholders(reference)).to.deep.equal(['{reference}'])
      expect(new Set([confirms, requests, approved]).size).to.equal(3)
    })

  it('say what sending them does', () => {
    expect(linkText('en', 'link_inbound', 'Acme', REFERENCE)).to.equal(
      `I confirm that I am signing in to Acme.\nReference: ${REFERENCE}`,
    )
    expect(linkText('de', 'link_code', 'Acme', REFERENCE)).to.equal(
      `Bitte senden Sie mir meinen Code für Acme.\nReferenz: ${REFERENCE}`,
    )
  })

  it('answer that it is done', () => {
    expect(approvedText('sv', 'Acme')).to.equal('Bekräftat. Du kan gå tillbaka till Acme.')
  })

  it('fall back to English for a language nobody has', () => {
    for (const locale of ['tlh', '__proto__', 'toString'])
      expect(approvedText(locale, 'Acme')).to.equal('Confirmed. You can return to Acme.')
  })

  it('take the name of an app for a name, whatever it looks like', () => {
    for (const app of ['{reference}', '$&', '{app}', '{toString}'])
      expect(linkText('en', 'link_code', app, REFERENCE)).to.equal(
        `Please send me my code for ${app}.\nReference: ${REFERENCE}`,
      )
  })
})
