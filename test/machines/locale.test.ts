import { expect } from 'chai'
import { chooseLocale } from '../../machines/locale.ts'

const TEXTS = ['en', 'de', 'pt', 'pt-BR', 'zh', 'zh-Hant', 'he']
const speak = (wanted: string | null, fallback = 'de') => chooseLocale(wanted, fallback, TEXTS)

describe('choosing a language', () => {
  const cases: [string, string | null, string][] = [
    ['the region asked for', 'pt-BR', 'pt-BR'],
    ['the language where the region has no texts', 'pt-AO', 'pt'],
    ['the script before the language', 'zh-Hant-TW', 'zh-Hant'],
    ['the tag however it is written', 'PT-br', 'pt-BR'],
    ['the modern name of a language', 'iw', 'he'],
    ['the language of a tag with extensions', 'pt-BR-u-nu-latn', 'pt-BR'],
    ["the app's own for a language there are no texts in", 'ja', 'de'],
    ["the app's own for a malformed tag", 'not a tag!', 'de'],
    ["the app's own for an underscore", 'pt_BR', 'de'],
    ["the app's own for none", null, 'de'],
    ["the app's own for an empty one", '', 'de'],
  ]
  for (const [what, wanted, spoken] of cases)
    it(`takes ${what}`, () => {
      expect(speak(wanted)).to.equal(spoken)
    })

  it("widens the app's own in the same way", () => {
    expect(speak('ja', 'pt-AO')).to.equal('pt')
  })

  it('ends in English, even when nothing fits', () => {
    expect(speak('ja', 'ko')).to.equal('en')
    expect(speak('ja', 'broken tag!')).to.equal('en')
    expect(chooseLocale('ja', 'ko', [])).to.equal('en')
  })
})
