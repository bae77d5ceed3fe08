import { expect } from 'chai'
import fc from 'fast-check'
import { csvLine } from '../../infra/csv.ts'
import { parseCsv } from '../support/csv.ts'
import { propertyRuns } from '../support/property-runs.ts'

const FORMULA = /^[\t\r\n]*[=+\-@＝＋－＠]/
const FORMULA_STARTS = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']

/** What a script does with a cell, as docs/admin-api.md says. */
const original = (cell: string): string =>
  cell.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '').replaceAll(/([;\t\r\n]"*)'(?='*[=+\-@＝＋－＠])/g, '$1')

/** The cells that a spreadsheet sees that splits at another separator: a quote is one only at the beginning of its cell. */
const SPLIT_AT = {
  semicolons: /(?:^|[;\r\n])(?:"((?:[^"]|"")*)")?([^;\r\n]*)/g,
  tabs: /(?:^|[\t\r\n])(?:"((?:[^"]|"")*)")?([^\t\r\n]*)/g,
}
const cellsOf = (line: string, split: RegExp): string[] =>
  [...line.matchAll(split)].map(([, quoted = '', plain]) => `${quoted.replaceAll('""', '"')}${plain}`)

describe('a line of CSV', () => {
  it('leaves nothing empty, shows numbers as they are, and lists and maps as JSON', () => {
    expect(csvLine([null, undefined, '', 0, -40_000, true, ['sms'], { a: 'b' }])).to.equal(
      ',,,0,-40000,true,"[""sms""]","{""a"":""b""}"\r\n',
    )
  })

  it('puts an apostrophe before what a spreadsheet would take for a formula, and a masked number stays readable', () => {
    expect(csvLine(['+44****56', '=1+1', '@SUM(A1)', "'=1+1"])).to.equal("'+44****56,'=1+1,'@SUM(A1),''=1+1\r\n")
    for (const start of FORMULA_STARTS) expect(parseCsv(csvLine([`${start}x`]))[0]?.[0]).to.equal(`'${start}x`)
  })

  it('puts one where a spreadsheet that splits at semicolons or tabs begins a cell, and quotes such separators', () => {
    expect(csvLine(['a;=1+1', 'b\t@x', 'c\n-2', 'd;"=1', "e;'+3", 'f; g-h'])).to.equal(
      `"a;'=1+1","b\t'@x","c\n'-2","d;""'=1","e;''+3","f; g-h"\r\n`,
    )
  })

  it('can be read back, whatever the values are', () => {
    const text = fc.string({
      unit: fc.constantFrom(...FORMULA_STARTS, "'", '"', ',', ';', ' ', 'a', 'é'),
      maxLength: 5,
    })
    const property = fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), values => {
      const [row] = parseCsv(csvLine(values))
      expect(row?.map(original)).to.deep.equal(values)
      expect(row?.some(cell => FORMULA_STARTS.some(start => cell.startsWith(start)))).to.equal(false)
      const line = csvLine(['id of the item', ...values])
      for (const split of Object.values(SPLIT_AT))
        expect(cellsOf(line, split).filter(cell => FORMULA.test(cell))).to.deep.equal([])
    })
    fc.assert(property, { numRuns: propertyRuns(100) })
  })
})
