import { expect } from 'chai'
import fc from 'fast-check'
import { excessIn, parseJson } from '../../infra/json.ts'
import { propertyRuns } from '../support/property-runs.ts'

describe('parsing JSON', () => {
  it('returns the value, with or without a byte order mark', () => {
    expect(parseJson('{"a":[1,null]}')).to.deep.equal({ ok: true, value: { a: [1, null] } })
    expect(parseJson('\uFEFF[]')).to.deep.equal({ ok: true, value: [] })
  })

  const faults: [string, string, string][] = [
    ['a trailing comma', '{\n  "a": 1,\n}', 'unexpected "}" at line 3, column 1'],
    ['a trailing comma in a list', '[1,\r\n 2, ]', 'unexpected "]" at line 2, column 5'],
    ['a missing comma', '{"a": 1\n "b": 2}', 'unexpected "\\"" at line 2, column 2'],
    ['a missing colon', '{"a" 1}', 'unexpected "1" at line 1, column 6'],
    ['a name without quotes', '{a: 1}', 'unexpected "a" at line 1, column 2'],
    ['single quotes', "['a']", 'unexpected "\'" at line 1, column 2'],
    ['a comment', '{\n  // a\n}', 'unexpected "/" at line 2, column 3'],
    ['the wrong bracket', '{"a": [1}', 'unexpected "}" at line 1, column 9'],
    ['a string across lines', '["a\nb"]', 'unexpected "\\"" at line 1, column 2'],
    ['a leading zero', '[01]', 'unexpected "1" at line 1, column 3'],
    ['two values', '{} 😀', 'unexpected "😀" at line 1, column 4'],
    ['nothing', '', 'it ends too early, at line 1, column 1'],
    ['a missing bracket', '{"a": [1]\n', 'it ends too early, at line 2, column 1'],
    ['an object cut short', '{"a":', 'it ends too early, at line 1, column 6'],
  ]
  it('gives the line and column of a fault', () => {
    for (const [what, text, message] of faults)
      expect(parseJson(text), what).to.deep.equal({ ok: false, message: `not JSON: ${message}` })
  })

  it('never points past the fault: the text before it can still become JSON', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(',', '}', ']', ':', '"', '{', 'x', '\n', ''))
      .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1))
    fc.assert(
      fc.property(broken, text => {
        const parsed = parseJson(text)
        if (parsed.ok) return
        const place = /line (\d+), column (\d+)$/.exec(parsed.message)
        const before = text.split('\n').slice(0, Number(place?.[1]))
        const at = before.slice(0, -1).join('\n').length + (before.length > 1 ? 1 : 0) + Number(place?.[2]) - 1
        expect(at).to.be.within(0, text.length)
        // V8 gives a position in some messages. Inside a token it may be later than ours, which is the start of the token.
        const positionOfV8 = /at position (\d+)/.exec(errorMessageOf(text))
        if (positionOfV8) expect(at).to.be.at.most(Number(positionOfV8[1]))
        expect(errorMessageOf(text.slice(0, at))).to.match(/Unexpected end|Unterminated|Expected|No number|^$/)
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})

describe('what a JSON text holds', () => {
  const max = { nesting: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }
  const inner = (value: unknown): unknown[] => (typeof value === 'object' && value !== null ? Object.values(value) : [])
  const nestingOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...inner(value).map(nestingOf)) : 0
  /** An empty list or object counts as if it had a member. */
  const valuesOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Math.max(1, inner(value).length) + inner(value).reduce<number>((sum, one) => sum + valuesOf(one), 0)
      : 0

  it('is counted as it would be after parsing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const [nesting, values] = [nestingOf(value), valuesOf(value)]
        for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
          expect(excessIn(text, { nesting, values })).to.equal(null)
          if (nesting > 0) expect(excessIn(text, { ...max, nesting: nesting - 1 })).to.equal('nesting')
          if (values > 0) expect(excessIn(text, { ...max, values: values - 1 })).to.equal('values')
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('is not looked for in strings, nor behind one that does not end', () => {
    const none = { nesting: 1, values: 2 }
    expect(excessIn('["[[,,\\"[[,,\\\\","]]"]', none)).to.equal(null)
    expect(excessIn('["a,,,,[[[[', none)).to.equal(null)
  })
})

function errorMessageOf(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return String((error as Error).message)
  }
}
