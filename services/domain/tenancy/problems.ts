// In: a schema and untrusted input. Out: the parsed value, or every problem with its dotted path.
// The bootstrap file and the admin API both use it, so that they name problems alike. The words are in problem-words.ts.
import { z } from 'zod'
import { inWords, unknownMemberWords } from './problem-words.ts'

export interface InputProblem {
  /** Dotted: `limits.recipient.0.max`. Empty for a problem of the whole value. */
  path: string
  message: string
}

export type CheckResult<T> = { ok: true; value: T } | { ok: false; problems: InputProblem[] }

export function check<S extends z.ZodType>(schema: S, input: unknown): CheckResult<z.output<S>> {
  const { result, issues, problemsOf } = parse(schema, input)
  const hidden = result.success ? hiddenMembersAndHalfCharacters(input) : hiddenMembers(input)
  if (result.success && hidden.length === 0) return { ok: true, value: result.data }
  return { ok: false, problems: unique([...issues.flatMap(problemsOf), ...hidden]) }
}

export interface MemberProblems {
  /** Problems of values, and of record keys that are not allowed. */
  values: InputProblem[]
  /** Unknown members, and record keys that are not allowed. */
  names: InputProblem[]
}

/** As `check`, but tells the problems of names and of values apart. `value` is null where there is any problem. */
export function checkMembers<S extends z.ZodType>(
  schema: S,
  input: unknown,
): MemberProblems & { value: z.output<S> | null } {
  const { result, issues, problemsOf } = parse(schema, input)
  const hidden = hiddenMembers(input)
  const inNames = issues.filter(({ code }) => code === 'unrecognized_keys' || code === 'invalid_key')
  const inValues = issues.filter(({ code }) => code !== 'unrecognized_keys')
  return {
    values: unique(inValues.flatMap(problemsOf)),
    names: unique([...inNames.flatMap(problemsOf), ...hidden]),
    value: result.success && hidden.length === 0 ? result.data : null,
  }
}

/** JSON can write half of a character that takes two, and UTF-8 cannot. So it would be stored and sent as another text. */
export const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text)
export const HALF_CHARACTERS = 'must hold no half characters'

/** Texts in lists are skipped: they have patterns of their own. */
const hiddenMembersAndHalfCharacters = (input: unknown): InputProblem[] =>
  typeof input === 'string' && !isWhole(input)
    ? [{ path: '', message: HALF_CHARACTERS }]
    : problemsWithin(input, (name, value) => {
        const hidden = hiddenMember(name)
        if (hidden !== null) return hidden
        if (!isWhole(name)) return { message: `${HALF_CHARACTERS} in names`, isOfOwner: true }
        return typeof value === 'string' && !isWhole(value) ? { message: HALF_CHARACTERS } : null
      })

export const dottedPath = (path: readonly PropertyKey[]): string => path.map(String).join('.')

/** The same problems with `path` before their paths. */
export const underPath = (path: string, problems: readonly InputProblem[]): InputProblem[] =>
  problems.map(problem => ({ ...problem, path: [path, problem.path].filter(part => part !== '').join('.') }))

/** Parses, and keeps the names that each object allows: zod's issues do not have them. */
function parse<S extends z.ZodType>(schema: S, input: unknown) {
  const namesByPath = new Map<string, string[]>()
  const result = schema.safeParse(input, {
    error: issue => {
      if (issue.code === 'unrecognized_keys') namesByPath.set(dottedPath(issue.path ?? []), namesOf(issue.schema))
      return inWords(issue)
    },
  })

  function problemsOf(issue: z.core.$ZodIssue): InputProblem[] {
    const path = dottedPath(issue.path)
    if (issue.code === 'unrecognized_keys') {
      const names = namesByPath.get(path) ?? []
      return issue.keys.slice(0, MAX_TOLD).map((key, at) => ({
        path: dottedPath([...issue.path, key]),
        message: unknownMemberWords(key, at < MAX_EXPLAINED_NAMES ? names : []),
      }))
    }
    // The name of the member is wrong, and only the inner issue says why.
    if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path, message }))
    return [{ path, message: issue.message }]
  }
  return { result, issues: result.error?.issues.slice(0, MAX_TOLD) ?? [], problemsOf }
}

/** The most problems of a value, and unknown names in one object, that are put into words: far more than anyone reads. */
const MAX_TOLD = 500
/** The most of them for which the name that was meant is looked for, which takes time. */
const MAX_EXPLAINED_NAMES = 20

const namesOf = (schema: z.core.$ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : []

/** zod silently drops an own member `__proto__` from records, but settings are stored as they were written. */
const hiddenMember = (name: string): { message: string } | null =>
  name === '__proto__' ? { message: unknownMemberWords(name, []) } : null

const hiddenMembers = (input: unknown): InputProblem[] => problemsWithin(input, hiddenMember)

/** Asks about each member of each object. What is within a member that is a problem is not looked at. The members of an
 *  array have no names, and its texts are skipped because a list may hold millions of them. A path is written only for
 *  a problem: a body may hold a hundred thousand members, and it is checked before anything else is known about it. */
function problemsWithin(
  input: unknown,
  problemOf: (name: string, value: unknown) => { message: string; isOfOwner?: true } | null,
): InputProblem[] {
  const problems: InputProblem[] = []
  const path: PropertyKey[] = []
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) lookInto(at, value[at])
      return
    }
    for (const [name, member] of Object.entries(value)) {
      const problem = problemOf(name, member)
      if (problem === null) lookInto(name, member)
      else problems.push({ path: dottedPath(problem.isOfOwner ? path : [...path, name]), message: problem.message })
    }
  }
  const lookInto = (name: PropertyKey, member: unknown): void => {
    if (typeof member !== 'object') return
    path.push(name)
    look(member)
    path.pop()
  }
  look(input)
  return problems
}

const unique = (problems: InputProblem[]): InputProblem[] => [
  ...new Map(problems.map(problem => [`${problem.path}\n${problem.message}`, problem])).values(),
]
