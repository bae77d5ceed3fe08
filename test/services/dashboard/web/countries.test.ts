import { expect } from 'chai'
import { COUNTRIES, countryName, findCountry } from '../../../../services/dashboard/web/data/countries.ts'

describe('a country in a field', () => {
  const typed: [string, string | null][] = [
    ['Brazil', 'BR'],
    ['BR', 'BR'],
    ['Braz', 'BR'],
    ['UK', 'GB'],
    ['Reunion', 'RE'],
    ["cote d'ivoire", 'CI'],
    ['Turkey', 'TR'],
    ['United', null],
    ['', null],
    ['EU', null],
  ]
  for (const [text, code] of typed)
    it(`${JSON.stringify(text)} is ${code}`, () => expect(findCountry(text)?.code ?? null).to.equal(code))

  it('has a name, as every country of the settings', () => {
    expect(COUNTRIES.filter(({ code, name }) => code === name)).to.deep.equal([])
    expect(COUNTRIES.length).to.be.greaterThan(240)
    expect(countryName('BR')).to.equal('Brazil')
    expect(countryName('*')).to.equal('*')
  })
})
