import { expect } from 'chai'
import { LANGUAGES, linkText } from '../../../../services/domain/texts/message-text.ts'
import { referencesIn } from '../../../../services/domain/verifications/whatsapp-references.ts'

const REFERENCE = '23456789ABCDEFGH'
const OTHER = 'JKLMNPQRSTUVWXYZ'

describe('references in a text', () => {
  const alone: [string, string][] = [
    ['the pre-filled text', `Please send me my code for Shop. Reference: ${REFERENCE}`],
    ['lower case', `ref ${REFERENCE.toLowerCase()}`],
    ['line breaks and other scripts', `Привет\n${REFERENCE}，谢谢`],
    ['characters no reference has on both sides', `0${REFERENCE}1`],
  ]
  for (const [title, text] of alone)
    it(`are found in ${title}`, () => expect(referencesIn(text)).to.deep.equal([REFERENCE]))

  it('are found with letters of their own alphabet around them', () => {
    expect(referencesIn(`AB${REFERENCE}CD`)).to.include(REFERENCE)
  })

  for (const language of LANGUAGES)
    it(`are found in the pre-filled text in ${language}`, () => {
      for (const mode of ['link_inbound', 'link_code'] as const)
        for (const app of ['Shop', 'المتجر', 'TH3VERYLNGNAMEFANAPPTHATKNWSNSPACESATALL'.repeat(2)])
          expect(referencesIn(linkText(language, mode, app, REFERENCE))[0]).to.equal(REFERENCE)
    })

  it('are all found, each once, and none in ordinary words or in texts that are too short', () => {
    expect(referencesIn(`${OTHER} ${REFERENCE} ${OTHER.toLowerCase()}`)).to.deep.equal([OTHER, REFERENCE])
    expect(referencesIn(`Hello, what is my code? ${REFERENCE.slice(1)} 0123456789012345`)).to.deep.equal([])
  })

  it('are limited in number, for a text of any length', () => {
    const random = Array.from({ length: 5_000 }, (_, at) => REFERENCE[(at * at + at) % 16] ?? '').join('')
    expect(referencesIn(`${random}${OTHER}`).length).to.be.within(1, 32)
  })

  it('come first if they stand alone, so that a long word cannot displace one', () => {
    const long = Array.from({ length: 200 }, (_, at) => REFERENCE[(at * at + at) % 16] ?? '').join('')
    expect(referencesIn(`${long} ${OTHER}`)[0]).to.equal(OTHER)
  })
})
