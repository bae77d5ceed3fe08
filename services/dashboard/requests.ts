// What an operator sent, checked: bodies, queries, ids. Strict everywhere: a mistyped name must not pass for a wish that was not made.
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { readJson } from '../../infra/http/body.ts'
import { httpException, type Problem as Refusal } from '../../infra/http/problem.ts'
import type { Doc, Docs } from '../../infra/store/docs.ts'
import { problem } from '../domain/errors.ts'
import { check, type Problem } from '../domain/tenancy/problems.ts'

export type Bodies = <S extends z.ZodType>(ctx: { req: IncomingMessage }, schema: S) => Promise<z.output<S>>

export const bodies =
  (maxBytes: number): Bodies =>
  async (ctx, schema) =>
    valid(schema, await readJson(ctx, maxBytes))

/** For a call that has nothing to say. */
export const nothing = z.strictObject({}).optional()

export const queryOf = <S extends z.ZodType>({ query }: { query: unknown }, schema: S): z.output<S> =>
  // What Koa parsed has no prototype; zod wants a plain object.
  valid(schema, { ...(query as object) })

export const invalid = (problems: readonly Problem[]): Refusal =>
  problem('ValidationError', { members: { errors: problems } })

/** The document, or 404. */
export async function found<T extends Doc>(
  docs: Pick<Docs<T>, 'get'>,
  id: string | undefined,
  what: string,
): Promise<T> {
  const doc = id === undefined ? undefined : (await docs.get([id])).get(id)
  if (!doc) throw httpException(404, `There is no such ${what}.`)
  return doc
}

function valid<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const checked = check(schema, input)
  if (!checked.ok) throw invalid(checked.problems)
  return checked.value
}
