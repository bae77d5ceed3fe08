// In: a schema and whatever came from outside. Out: the parsed value, or every problem with its dotted path.
// One place, so that the bootstrap file, the admin API and the dashboard name problems alike.
import type { z } from 'zod'

export interface Problem {
  /** Dotted: `limits.recipient.0.max`. Empty when it is about the whole value. */
  path: string
  message: string
}

export type CheckResult<T> = { ok: true; value: T } | { ok: false; problems: Problem[] }

export function check<S extends z.ZodType>(schema: S, input: unknown): CheckResult<z.output<S>> {
  const result = schema.safeParse(input)
  // zod drops an own `__proto__` from records without a word; such a document would be stored as it is.
  const hidden = hiddenMembers(input, [])
  if (result.success && hidden.length === 0) return { ok: true, value: result.data }
  const issues = result.success ? [] : result.error.issues
  return { ok: false, problems: unique([...issues.flatMap(problemsOf), ...hidden]) }
}

/** Only the names that are wrong, whatever their values: members that do not exist, keys that are no keys. */
export function findUnknownMembers(schema: z.ZodType, input: unknown): Problem[] {
  const issues = schema.safeParse(input).error?.issues ?? []
  const nameIssues = issues.filter(({ code }) => code === 'unrecognized_keys' || code === 'invalid_key')
  return unique([...nameIssues.flatMap(problemsOf), ...hiddenMembers(input, [])])
}

export const dottedPath = (path: readonly PropertyKey[]): string => path.map(String).join('.')

/** The same problems, seen from the document that holds the value at `path`. */
export const underPath = (path: string, problems: readonly Problem[]): Problem[] =>
  problems.map(problem => ({ ...problem, path: [path, problem.path].filter(part => part !== '').join('.') }))

export const UNKNOWN_MEMBER = 'there is no such member'

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => ({ path: dottedPath([...issue.path, key]), message: UNKNOWN_MEMBER }))
  }
  // The member's name is at fault, and only the inner issue says why.
  if (issue.code === 'invalid_key') {
    return issue.issues.map(inner => ({ path: dottedPath(issue.path), message: inner.message }))
  }
  return [{ path: dottedPath(issue.path), message: issue.message }]
}

function hiddenMembers(value: unknown, path: string[]): Problem[] {
  if (typeof value !== 'object' || value === null) return []
  // A list has no such member; one of millions of texts is not worth naming each.
  if (Array.isArray(value))
    return value.flatMap((member, at) =>
      typeof member === 'object' ? hiddenMembers(member, [...path, String(at)]) : [],
    )
  return Object.entries(value).flatMap(([name, member]) =>
    name === '__proto__'
      ? [{ path: dottedPath([...path, name]), message: UNKNOWN_MEMBER }]
      : hiddenMembers(member, [...path, name]),
  )
}

const unique = (problems: Problem[]): Problem[] => [
  ...new Map(problems.map(problem => [`${problem.path}\n${problem.message}`, problem])).values(),
]
