// In: a schema and the JSON of a body, or undefined without one. Out: the parsed body, or a refusal that names every problem by its path.
import type { z } from 'zod'
import type { Problem } from '../../infra/http/problem.ts'
import { problem } from '../domain/errors.ts'
import { dottedPath } from '../domain/tenancy/problems.ts'

/** A request without a body is refused for every required member, as `{}` is. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, json: unknown): z.output<Schema> {
  const result = schema.safeParse(json === undefined ? {} : json)
  if (result.success) return result.data
  throw validationProblem(result.error.issues.map(({ path, message }) => ({ path: dottedPath(path), message })))
}

export const validationProblem = (errors: { path: string; message: string }[]): Problem =>
  problem('ValidationError', {
    detail: `${errors.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`).join('; ')}.`,
    members: { errors },
  })
