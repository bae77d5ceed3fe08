// What is wrong with a value, in words that follow the name of its member: "limit must be a whole number from 1 to
// 100". In: what zod found. Out: the words. They stand in for zod's own texts, which name types of its implementation.
// A message in a schema goes before them. The client API, the admin API and the bootstrap file all use them.
import { z } from 'zod'

type Issue = z.core.$ZodRawIssue
type Found<Code extends Issue['code']> = Extract<Issue, { code: Code }>

/** For `safeParse`. */
export const inWords = (issue: Issue): string => {
  if (issue.input === undefined && MISSING_CODES.has(issue.code)) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(issue)
    case 'invalid_value':
      return valueWords(issue)
    case 'too_small':
    case 'too_big':
      return sizeWords(issue)
    case 'invalid_format':
      return formatWords(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has no member ${issue.keys.join(', ')}`
    case 'invalid_union':
      return unionWords(issue)
    default:
      return 'is not valid'
  }
}

const MISSING_CODES: ReadonlySet<Issue['code']> = new Set<Issue['code']>([
  'invalid_type',
  'invalid_value',
  'invalid_union',
])

const TYPES: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function typeWords(issue: Found<'invalid_type'>): string {
  if (issue.expected === 'number' || issue.expected === 'int') return numberWords(issue)
  if (TYPES[issue.expected] === 'an object' && (issue.path ?? []).length === 0) return 'must be a JSON object'
  const type = TYPES[issue.expected]
  return type === undefined ? 'is not valid' : `must be ${type}`
}

function valueWords({ values }: Found<'invalid_value'>): string {
  return values.length === 1
    ? `must be ${JSON.stringify(values[0])}`
    : `must be one of ${values.map(String).join(', ')}`
}

/** The whole range of the schema, not only the end that was missed. */
function numberWords({ schema, code }: Issue): string {
  const { minValue, maxValue, format } = schema instanceof z.ZodNumber ? schema : ANY_NUMBER
  const kind = format === null ? 'a number' : 'a whole number'
  // Whole numbers have the bounds of exact arithmetic, which say nothing to a reader who kept them.
  const min = isBound(minValue) || code === 'too_small' ? minValue : null
  const max = isBound(maxValue) || code === 'too_big' ? maxValue : null
  if (min !== null && max !== null) return `must be ${kind} from ${min} to ${max}`
  if (min !== null) return `must be ${kind} of at least ${min}`
  return max === null ? `must be ${kind}` : `must be ${kind} of at most ${max}`
}

const ANY_NUMBER = { minValue: null, maxValue: null, format: null }

const isBound = (value: number | null): boolean => value !== null && Math.abs(value) < Number.MAX_SAFE_INTEGER

function sizeWords(issue: Found<'too_small'> | Found<'too_big'>): string {
  const { origin, schema } = issue
  if (origin !== 'string' && origin !== 'array') {
    if (issue.inclusive !== false) return numberWords(issue)
    return issue.code === 'too_small' ? `must be more than ${issue.minimum}` : `must be less than ${issue.maximum}`
  }
  const { min, max } = lengthsOf(schema)
  if (min === max) return `must have exactly ${count(max ?? 0, origin)}`
  if (min !== null && max !== null) return `must have ${min} to ${count(max, origin)}`
  if (max !== null) return `must have at most ${count(max, origin)}`
  return min === 1 && origin === 'string' ? 'must not be empty' : `must have at least ${count(min ?? 1, origin)}`
}

const count = (number: number, origin: string): string =>
  `${number} ${origin === 'string' ? 'character' : 'item'}${number === 1 ? '' : 's'}`

interface LengthCheck {
  check: string
  minimum?: number
  maximum?: number
  length?: number
}

/** The lengths that a schema of a text or a list allows. */
function lengthsOf(schema: z.core.$ZodType | undefined): { min: number | null; max: number | null } {
  const checks = (schema?._zod.def.checks ?? []).map(check => check._zod.def as LengthCheck)
  const mins = checks.flatMap(({ minimum, length }) => minimum ?? length ?? [])
  const maxes = checks.flatMap(({ maximum, length }) => maximum ?? length ?? [])
  return {
    min: mins.length > 0 ? Math.max(...mins) : null,
    max: maxes.length > 0 ? Math.min(...maxes) : null,
  }
}

const FORMATS: Record<string, string> = {
  datetime: 'must be a time, such as "2030-01-31T12:00:00Z"',
  date: 'must be a date, such as "2030-01-31"',
  email: 'must be an email address',
  url: 'must be a URL',
  uuid: 'must be a UUID',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
}

function formatWords(issue: Found<'invalid_format'>): string {
  if (issue.format === 'starts_with') return `must begin with ${issue.prefix}`
  if (issue.format === 'ends_with') return `must end with ${issue.suffix}`
  return FORMATS[issue.format] ?? 'does not have the right form'
}

const MUST_BE = 'must be '

/** "must be a string or null" where each alternative says what it must be. */
function unionWords({ errors }: Found<'invalid_union'>): string {
  const first = errors.map(([issue]) => issue)
  const alternatives = first.flatMap(issue =>
    issue !== undefined && issue.path.length === 0 && issue.message.startsWith(MUST_BE)
      ? issue.message.slice(MUST_BE.length)
      : [],
  )
  const isComplete = alternatives.length > 0 && alternatives.length === first.length
  return isComplete ? MUST_BE + [...new Set(alternatives)].join(' or ') : 'does not have the right form'
}

/** The words for a member that does not exist, with the name that was probably meant. */
export function unknownMemberWords(name: string, known: readonly string[]): string {
  const meant = findSimilar(name, known)
  return meant === undefined ? UNKNOWN_MEMBER : didYouMean(meant)
}

export const didYouMean = (name: string): string => `${UNKNOWN_MEMBER}; did you mean \`${name}\`?`

const UNKNOWN_MEMBER = 'is not known'

/** Comparing longer names costs time and helps no reader. */
const MAX_COMPARED_LENGTH = 40

function findSimilar(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_COMPARED_LENGTH) return undefined
  const written = name.toLowerCase()
  const mostEdits = Math.min(3, Math.floor(written.length / 3))
  const byEdits = known
    .map(candidate => ({ candidate, edits: editsBetween(written, candidate) }))
    .filter(({ edits }) => edits <= mostEdits)
    .sort((one, other) => one.edits - other.edits)
  return byEdits[0]?.candidate
}

/** How many letters must be added, removed, replaced or swapped with their neighbour. */
function editsBetween(one: string, other: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
          ? (before[j - 2] ?? 0) + 1
          : replaced
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, swapped))
    }
    ;[before, row] = [row, next]
  }
  return row[other.length] ?? 0
}
