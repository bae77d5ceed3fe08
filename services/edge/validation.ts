// In: a schema and the JSON of a body, or undefined without one. Out: the parsed body, or a refusal that names every problem by its path.
import type { z } from 'zod'
import { inWords } from '../domain/tenancy/problem-words.ts'
import { dottedPath } from '../domain/tenancy/problems.ts'
import { validationProblem } from '../domain/validation-problem.ts'

/** A request without a body is refused for every required member, as `{}` is. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, json: unknown): z.output<Schema> {
  const result = schema.safeParse(json === undefined ? {} : json, { error: inWords })
  if (result.success) return result.data
  throw validationProblem(result.error.issues.map(({ path, message }) => ({ path: dottedPath(path), message })))
}
