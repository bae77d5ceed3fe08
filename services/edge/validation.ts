// In: a schema and the JSON of a body, or undefined without one. Out: the parsed body, or a refusal that names every problem by its path.
import { z } from 'zod'
import { validationProblem } from '../domain/errors.ts'
import { didYouMean, inWords } from '../domain/tenancy/problem-words.ts'
import { dottedPath, type InputProblem } from '../domain/tenancy/problems.ts'

/** A request without a body is refused for every required member, as `{}` is. */
export function parseBody<Schema extends z.ZodObject>(schema: Schema, json: unknown): z.output<Schema> {
  const result = schema.safeParse(json === undefined ? {} : json, { error: inWords })
  const refused = isObject(json) ? [...findMisspeltMembers(schema, json), ...findHiddenMembers(schema, json)] : []
  if (result.success && refused.length === 0) return result.data
  const issues = result.error?.issues ?? []
  throw validationProblem([...issues.flatMap(problemsOf), ...refused])
}

export function problemsOf(issue: z.core.$ZodIssue): InputProblem[] {
  const path = dottedPath(issue.path)
  // The name of the member is wrong, and only the inner issue says why.
  return issue.code === 'invalid_key'
    ? issue.issues.map(({ message }) => ({ path, message }))
    : [{ path, message: issue.message }]
}

/** zod drops a member `__proto__` of a record without a word. */
const findHiddenMembers = ({ shape }: z.ZodObject, body: Readonly<Record<string, unknown>>): InputProblem[] =>
  Object.keys(shape)
    .filter(name => isObject(body[name]) && Object.hasOwn(body[name], '__proto__'))
    .map(name => ({ path: `${name}.__proto__`, message: 'cannot be the name of a member' }))

const isObject = (json: unknown): json is Record<string, unknown> => typeof json === 'object' && json !== null

/** Names that other services use for a required member. They are refused only where that member is missing. */
const NAMES_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  recipient: ['to', 'phone', 'phone_number', 'number', 'email'],
  otp_id: ['id', 'verification_id'],
  code: ['otp', 'pin'],
  verification_token: ['token'],
}

/** The members that the caller took for one of the schema, with the name that was meant, or with the reason why it
 *  cannot be sent. Unknown members are ignored, so a misspelt one would be lost without a word: a send whose `clientIp`
 *  is ignored counts in the tight limit of sends without an address. At most one problem for each member of the schema,
 *  because a body can hold a name in hundreds of spellings. */
function findMisspeltMembers({ shape }: z.ZodObject, body: Readonly<Record<string, unknown>>): InputProblem[] {
  const unknown = Object.keys(body).filter(name => !Object.hasOwn(shape, name))
  if (unknown.length === 0) return []
  return Object.keys(shape).flatMap(known => {
    const namesElsewhere = (body[known] ?? null) === null ? (NAMES_ELSEWHERE[known] ?? []) : []
    const spellings = new Set([known, ...namesElsewhere].map(withoutSpelling))
    const misspelt = unknown.find(name => spellings.has(withoutSpelling(name)))
    return misspelt === undefined ? [] : [{ path: misspelt, message: refusedAlways(shape[known]) ?? didYouMean(known) }]
  })
}

const withoutSpelling = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/** Why a member that may only be null is refused; null for any other member. */
function refusedAlways(member: z.core.$ZodType | undefined): string | null {
  const isNullOnly = member instanceof z.ZodOptional && member.unwrap() instanceof z.ZodNull
  return isNullOnly ? (member.safeParse('').error?.issues[0]?.message ?? null) : null
}
