import { expect } from 'chai'
import { COUNTRIES, countryName, findCountry, sortedByName } from '../../../../services/dashboard/web/data/countries.ts'

describe('a country in a field', () => {
  const typed: [string, string | null][] = [
    ['Brazil', 'BR'],
    ['brazil ', 'BR'],
    ['BR', 'BR'],
    ['br', 'BR'],
    ['Braz', 'BR'],
    ['UK', 'GB'],
    ['united kingdom', 'GB'],
    ['Reunion', 'RE'],
    ["cote d'ivoire", 'CI'],
    ['Turkey', 'TR'],
    ['United', null],
    ['Atlantis', null],
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

  it('is sorted by its name, not by its code', () => {
    expect(sortedByName(['DE', 'CH', 'AT'])).to.deep.equal(['AT', 'DE', 'CH'])
  })
})
