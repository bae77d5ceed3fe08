// The words for values that a schema refuses.
import { expect } from 'chai'
import fc from 'fast-check'
import { z } from 'zod'
import { check } from '../../../../services/domain/tenancy/problems.ts'
import { settingsSchema } from '../../../../services/domain/tenancy/settings.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { ZOD_WORDING } from '../../../support/zod-wording.ts'

const problemsOf = (schema: z.ZodType, input: unknown): string[] => {
  const checked = check(schema, input)
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`)
}
const wordsFor = (schema: z.ZodType, input: unknown): string[] =>
  problemsOf(z.strictObject({ it: schema }), { it: input })

const CASES: [string, z.ZodType, unknown, string][] = [
  ['a missing value', z.union([z.string(), z.null()]), undefined, 'is required'],
  ['a value of another type', z.union([z.string(), z.null()]), 5, 'must be a string or null'],
  [
    'a number outside its range',
    z.int().min(1).max(10).nullable().default(3),
    11,
    'must be a whole number from 1 to 10',
  ],
  ['a number that is not exact', z.int().min(0), 1e300, 'must be a whole number from 0 to 9007199254740991'],
  ['a text outside its length', z.string().min(1).max(100), '', 'must have 1 to 100 characters'],
  ['an unknown choice', z.enum(['server', 'publishable']), 'x', 'must be one of server, publishable'],
  ['what a rule without words refuses', z.string().refine(() => false), 'x', 'is not valid'],
  ['what a rule with words refuses', z.string().refine(() => false, 'must rhyme'), 'x', 'must rhyme'],
]

describe('the words for a refused value', () => {
  for (const [what, schema, input, words] of CASES)
    it(`say of ${what} that it ${words}`, () => {
      expect(wordsFor(schema, input)).to.deep.equal([`it ${words}`])
    })

  it('refuse half of a character, in values and in names, because UTF-8 cannot write it', () => {
    const schema = z.object({ texts: z.record(z.string(), z.string()), items: z.array(z.object({ note: z.string() })) })
    const whole = { texts: { '\u{1f600}': 'a\u{1f600}' }, items: [{ note: '\u{1f600}' }] }
    expect(problemsOf(schema, whole)).to.deep.equal([])
    expect(problemsOf(schema, { texts: { a: '\ud83d', '\ude00': 'b' }, items: [{ note: 'a\ud83d' }] })).to.deep.equal([
      'texts.a must hold no half characters',
      'texts must hold no half characters in names',
      'items.0.note must hold no half characters',
    ])
  })

  it('call a whole body that is no object a JSON object', () => {
    expect(problemsOf(z.strictObject({}), [])).to.deep.equal([' must be a JSON object'])
  })

  const unknown: [string, string][] = [
    ['limt', '; did you mean `limit`?'],
    ['ilmit', '; did you mean `limit`?'],
    ['LIMIT', '; did you mean `limit`?'],
    ['retention_day', '; did you mean `retention_days`?'],
    ['colour', ''],
    ['l'.repeat(10_000), ''],
    ['__proto__', ''],
  ]
  for (const [name, hint] of unknown)
    it(`say that a member ${name.slice(0, 20)} is not known${hint}`, () => {
      const schema = z.strictObject({ it: z.strictObject({ limit: z.string(), retention_days: z.string() }).partial() })
      const input = JSON.parse(`{"it": {${JSON.stringify(name)}: 1}}`)
      expect(problemsOf(schema, input)).to.deep.equal([`it.${name} is not known${hint}`])
    })

  it('are put together for the first five hundred problems', () => {
    const names = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`x${at}`, 1]))
    expect(problemsOf(z.strictObject({}), names)).to.have.length(500)
    expect(problemsOf(z.array(z.string()), Array(501).fill(1))).to.have.length(500)
  })

  it('are never zod’s own, for any settings', () => {
    const names = fc.constantFrom('locale', 'code', 'length', 'limits', 'recipient', 'routing', 'countries', 'channels')
    const leaf = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>(-1, 0.5, 1e300, '', 'x', [], {}, null),
    )
    const value = fc.letrec(tie => ({
      any: fc.oneof({ maxDepth: 4 }, leaf, fc.dictionary(names, tie('any'), { maxKeys: 4 }), fc.array(tie('any'))),
    })).any
    fc.assert(
      fc.property(value, input => {
        for (const problem of problemsOf(settingsSchema, input)) expect(problem).not.to.match(ZOD_WORDING)
      }),
      { numRuns: propertyRuns(150) },
    )
  })
})
