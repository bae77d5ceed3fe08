// Reads bodies, queries and ids of requests, and refuses what is not valid. Unknown members are refused: a mistyped
// name must not be ignored.
import type { Context } from 'koa'
import { z } from 'zod'
import { eventLoop } from '../../infra/event-loop.ts'
import { createReadJson, readText } from '../../infra/http/body.ts'
import { httpException, type Problem } from '../../infra/http/problem.ts'
import type { Doc, Docs } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { validationProblem } from '../domain/errors.ts'
import { check } from '../domain/tenancy/problems.ts'
import { type AdminRequest, mayAccessCompany } from './access.ts'

export { validationProblem }

export type ReadBody = <S extends z.ZodType>(ctx: Context, schema: S) => Promise<z.output<S>>

export function createReadBody(maxBytes: number, maxValues?: number): ReadBody {
  const readJson = createReadJson(maxBytes, maxValues)
  return async (ctx, schema) => {
    const body = await readJson(ctx)
    // Parsing a large one, checking it and what the operation does with it may each hold the event loop for a while.
    await eventLoop.turn()
    const checked = parseOrRefuse(schema, body)
    await eventLoop.turn()
    return checked
  }
}

/** For a body that is a text. */
export const createReadTextBody =
  (type: string, maxBytes: number): ReadBody =>
  async (ctx, schema) =>
    parseOrRefuse(schema, await readText(ctx, type, maxBytes))

/** For an operation that takes no body. */
export const emptyBody = z.strictObject({}).optional()

export const readQuery = <S extends z.ZodType>({ query }: { query: unknown }, schema: S): z.output<S> =>
  parseOrRefuse(schema, query)

export const notFound = (what: string): Problem => httpException(404, `There is no such ${what}.`)

/** Refuses what does not exist or is being deleted, and what belongs to a company that the caller may not see. A
 *  company belongs to itself. A document without a company, such as a provider, belongs to the app that its path has
 *  found before. */
export async function getOr404<T extends Doc & { company_id?: string; deleted_at?: number }>(
  request: AdminRequest,
  docs: Pick<Docs<T>, 'get'>,
  id: string | undefined,
  what: 'company' | 'app' | (string & {}),
): Promise<T> {
  const doc = id === undefined ? undefined : await getOne(docs, id)
  const company_id = what === 'company' ? doc?._id : doc?.company_id
  if (!doc || doc.deleted_at !== undefined || (company_id !== undefined && !mayAccessCompany(request, company_id)))
    throw notFound(what)
  return doc
}

function parseOrRefuse<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const checked = check(schema, input)
  if (!checked.ok) throw validationProblem(checked.problems)
  return checked.value
}
