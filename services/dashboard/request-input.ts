// What an operator sent, checked: bodies, queries, ids. Strict everywhere: a mistyped name must not pass for a wish that was not made.
import type { Context } from 'koa'
import { z } from 'zod'
import { createReadJson } from '../../infra/http/body.ts'
import { httpException, type Problem as Refusal } from '../../infra/http/problem.ts'
import type { Doc, Docs } from '../../infra/store/docs.ts'
import { problem } from '../domain/errors.ts'
import { check, type InputProblem } from '../domain/tenancy/problems.ts'

export type ReadBody = <S extends z.ZodType>(ctx: Context, schema: S) => Promise<z.output<S>>

export function createReadBody(maxBytes: number): ReadBody {
  const readJson = createReadJson(maxBytes)
  return async (ctx, schema) => parseOrRefuse(schema, await readJson(ctx))
}

/** For a call that has nothing to say. */
export const emptyBody = z.strictObject({}).optional()

export const readQuery = <S extends z.ZodType>({ query }: { query: unknown }, schema: S): z.output<S> =>
  // What Koa parsed has no prototype; zod wants a plain object.
  parseOrRefuse(schema, { ...(query as object) })

export const validationProblem = (problems: readonly InputProblem[]): Refusal =>
  problem('ValidationError', { members: { errors: problems } })

/** The document, or 404. */
export async function getOr404<T extends Doc>(
  docs: Pick<Docs<T>, 'get'>,
  id: string | undefined,
  what: string,
): Promise<T> {
  const doc = id === undefined ? undefined : (await docs.get([id])).get(id)
  if (!doc) throw httpException(404, `There is no such ${what}.`)
  return doc
}

function parseOrRefuse<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const checked = check(schema, input)
  if (!checked.ok) throw validationProblem(checked.problems)
  return checked.value
}
