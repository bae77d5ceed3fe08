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
  ['a missing text', z.string(), undefined, 'is required'],
  ['a missing choice', z.enum(['a', 'b']), undefined, 'is required'],
  ['a missing number', z.int().min(1), undefined, 'is required'],
  ['a missing alternative', z.union([z.string(), z.null()]), undefined, 'is required'],
  ['another type than text', z.string(), 5, 'must be a string'],
  ['null in place of text', z.string(), null, 'must be a string'],
  ['another type than a truth value', z.boolean(), 'yes', 'must be true or false'],
  ['another type than a list', z.array(z.string()), {}, 'must be a list'],
  ['another type than an object', z.strictObject({}), [], 'must be an object'],
  ['another type than a record', z.record(z.string(), z.string()), 'x', 'must be an object'],
  ['a text in place of a number', z.int().min(1).max(10), '5', 'must be a whole number from 1 to 10'],
  ['a fraction', z.int().min(1).max(10), 1.5, 'must be a whole number from 1 to 10'],
  ['a number that is too small', z.int().min(1).max(10), 0, 'must be a whole number from 1 to 10'],
  [
    'a number that is too large',
    z.int().min(1).max(10).nullable().default(3),
    11,
    'must be a whole number from 1 to 10',
  ],
  ['a number below the only bound', z.int().min(0), -1, 'must be a whole number of at least 0'],
  ['a number above the only bound', z.int().max(9), 10, 'must be a whole number of at most 9'],
  ['a number that is not exact', z.int().min(0), 1e300, 'must be a whole number from 0 to 9007199254740991'],
  ['a share outside its range', z.number().min(0).max(1), 2, 'must be a number from 0 to 1'],
  ['a number at an open end', z.number().gt(0), 0, 'must be more than 0'],
  ['a number that does not divide', z.int().multipleOf(5), 7, 'must be a multiple of 5'],
  ['an empty text', z.string().min(1), '', 'must not be empty'],
  ['an empty text with a longest length', z.string().min(1).max(100), '', 'must have 1 to 100 characters'],
  ['a text that is too long', z.string().max(2), 'abc', 'must have at most 2 characters'],
  ['a text of another length', z.string().length(4), 'abc', 'must have exactly 4 characters'],
  ['an empty list', z.array(z.string()).min(1), [], 'must have at least 1 item'],
  ['a list that is too long', z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
  ['an unknown choice', z.enum(['server', 'publishable']), 'x', 'must be one of server, publishable'],
  ['an unknown value', z.literal('x'), 'y', 'must be "x"'],
  ['a text of another form', z.string().regex(/^a$/), 'b', 'does not have the right form'],
  ['a text with another beginning', z.string().startsWith('sk_'), 'b', 'must begin with sk_'],
  ['no time', z.iso.datetime(), 'soon', 'must be a time, such as "2030-01-31T12:00:00Z"'],
  ['no email address', z.email(), 'x', 'must be an email address'],
  ['none of the alternatives', z.union([z.string(), z.null()]), 5, 'must be a string or null'],
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
    ['limits', '; did you mean `limit`?'],
    ['ilmit', '; did you mean `limit`?'],
    ['LIMIT', '; did you mean `limit`?'],
    ['retention_day', '; did you mean `retention_days`?'],
    ['colour', ''],
    ['x', ''],
    ['l'.repeat(10_000), ''],
    ['__proto__', ''],
  ]
  for (const [name, hint] of unknown)
    it(`say that a member ${name.slice(0, 20)} is not known${hint}`, () => {
      const schema = z.strictObject({ it: z.strictObject({ limit: z.string(), retention_days: z.string() }).partial() })
      const input = JSON.parse(`{"it": {${JSON.stringify(name)}: 1}}`)
      expect(problemsOf(schema, input)).to.deep.equal([`it.${name} is not known${hint}`])
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
