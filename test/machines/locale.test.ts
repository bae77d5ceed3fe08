import { expect } from 'chai'
import { chooseLocale } from '../../machines/locale.ts'

const TEXTS = ['en', 'de', 'pt', 'pt-BR', 'zh', 'zh-Hant', 'he']
const choose = (wanted: string | null, fallback = 'de') => chooseLocale(wanted, fallback, TEXTS)

describe('choosing a language', () => {
  const cases: [string, string | null, string][] = [
    ['the wanted region', 'pt-BR', 'pt-BR'],
    ['the language where the region has no texts', 'pt-AO', 'pt'],
    ['the script before the language', 'zh-Hant-TW', 'zh-Hant'],
    ['the tag in any mix of upper and lower case', 'PT-br', 'pt-BR'],
    ['the current code of a language for its old one', 'iw', 'he'],
    ['the language of a tag with extensions', 'pt-BR-u-nu-latn', 'pt-BR'],
    ["the app's default for a language without texts", 'ja', 'de'],
    ["the app's default for a malformed tag", 'not a tag!', 'de'],
    ["the app's default for a tag with an underscore", 'pt_BR', 'de'],
    ["the app's default when no locale is wanted", null, 'de'],
    ["the app's default for an empty tag", '', 'de'],
  ]
  for (const [what, wanted, chosen] of cases)
    it(`takes ${what}`, () => {
      expect(choose(wanted)).to.equal(chosen)
    })

  it("takes the language of the app's default where its region has no texts, and English when neither fits", () => {
    expect(choose('ja', 'pt-AO')).to.equal('pt')
    expect(choose('ja', 'ko')).to.equal('en')
    expect(choose('ja', 'broken tag!')).to.equal('en')
    expect(chooseLocale('ja', 'ko', [])).to.equal('en')
  })
})
