// In: a schema and the JSON of a body, or undefined without one. Out: the parsed body, or a refusal that names every problem by its path.
import type { z } from 'zod'
import { inWords } from '../domain/tenancy/problem-words.ts'
import { dottedPath } from '../domain/tenancy/problems.ts'
import { validationProblem } from '../domain/validation-problem.ts'
import { findMisspeltMembers } from './misspelt-members.ts'

/** A request without a body is refused for every required member, as `{}` is. */
export function parseBody<Schema extends z.ZodObject>(schema: Schema, json: unknown): z.output<Schema> {
  const result = schema.safeParse(json === undefined ? {} : json, { error: inWords })
  const misspelt = isObject(json) ? findMisspeltMembers(schema, json) : []
  if (result.success && misspelt.length === 0) return result.data
  const issues = result.error?.issues ?? []
  throw validationProblem([...issues.map(({ path, message }) => ({ path: dottedPath(path), message })), ...misspelt])
}

const isObject = (json: unknown): json is Record<string, unknown> => typeof json === 'object' && json !== null
