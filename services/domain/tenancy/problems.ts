// In: a schema and untrusted input. Out: the parsed value, or every problem with its dotted path.
// The bootstrap file and the admin API both use it, so that they name problems alike.
import type { z } from 'zod'

export interface InputProblem {
  /** Dotted: `limits.recipient.0.max`. Empty for a problem of the whole value. */
  path: string
  message: string
}

export type CheckResult<T> = { ok: true; value: T } | { ok: false; problems: InputProblem[] }

export function check<S extends z.ZodType>(schema: S, input: unknown): CheckResult<z.output<S>> {
  const result = schema.safeParse(input)
  // zod silently drops an own member `__proto__` from records, but settings are stored as they were written.
  const hidden = hiddenMembers(input, [])
  if (result.success && hidden.length === 0) return { ok: true, value: result.data }
  const issues = result.success ? [] : result.error.issues
  return { ok: false, problems: unique([...issues.flatMap(problemsOf), ...hidden]) }
}

/** Only problems with names: unknown members, and record keys that are not allowed. Values are not checked. */
export function findUnknownMembers(schema: z.ZodType, input: unknown): InputProblem[] {
  const issues = schema.safeParse(input).error?.issues ?? []
  const nameIssues = issues.filter(({ code }) => code === 'unrecognized_keys' || code === 'invalid_key')
  return unique([...nameIssues.flatMap(problemsOf), ...hiddenMembers(input, [])])
}

export const dottedPath = (path: readonly PropertyKey[]): string => path.map(String).join('.')

/** The same problems with `path` before their paths. */
export const underPath = (path: string, problems: readonly InputProblem[]): InputProblem[] =>
  problems.map(problem => ({ ...problem, path: [path, problem.path].filter(part => part !== '').join('.') }))

export const UNKNOWN_MEMBER = 'there is no such member'

function problemsOf(issue: z.core.$ZodIssue): InputProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => ({ path: dottedPath([...issue.path, key]), message: UNKNOWN_MEMBER }))
  }
  // The name of the member is wrong, and only the inner issue says why.
  if (issue.code === 'invalid_key') {
    return issue.issues.map(inner => ({ path: dottedPath(issue.path), message: inner.message }))
  }
  return [{ path: dottedPath(issue.path), message: issue.message }]
}

function hiddenMembers(value: unknown, path: string[]): InputProblem[] {
  if (typeof value !== 'object' || value === null) return []
  // An array has no member `__proto__` itself, and its texts are skipped because a list may hold millions of them.
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

const unique = (problems: InputProblem[]): InputProblem[] => [
  ...new Map(problems.map(problem => [`${problem.path}\n${problem.message}`, problem])).values(),
]
