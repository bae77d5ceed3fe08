// An operation of the admin API is declared once: its method and path, who may call it, what it takes, answers and
// refuses, and its handler. The declaration is what the router serves, with its guard, and its entry in the OpenAPI
// document.

import type { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { compressLargeAnswers } from '../../infra/http/large-answers.ts'
import {
  type ApiOperation,
  type ApiParameter,
  type ApiRefusal,
  type HttpMethod,
  type PathParams,
  queryParameters,
  type RequestLine,
  routerPath,
  splitRequestLine,
  unwrap,
} from '../../infra/openapi/operation.ts'
import type { CollectionSpec } from '../../infra/store/store.ts'
import type { COLLECTIONS, CountersignStore } from '../domain/collections.ts'
import { findDeletedCompany } from '../domain/deletion/deleted-company.ts'
import { commonRefusal } from '../domain/openapi/refusals.ts'
import { firstIdOf } from '../domain/verifications/joined-ids.ts'
import { ADMIN_PATH, createGuard, type IdentifyPrincipal, principalOf, type Role } from './access.ts'
import type { AdminDeps } from './admin-deps.ts'
import type { Admit } from './admit.ts'
import { type Answer, refusal } from './answers.ts'
import { answerCsv, CSV_SENTENCE, type CsvExport, documentCsv, linesSchema, wantsCsv } from './csv-export.ts'
import type { PageOptions } from './pages.ts'
import { createReadBody, createReadTextBody, emptyBody, getOr404, type ReadBody, readQuery } from './request-input.ts'
import { requireStepUp, stepUpRefusal } from './step-up.ts'

/** `anyone`: without a session. */
type LowestRole = Role | 'anyone'

export interface AdminOperation<Deps> extends ApiOperation {
  role: LowestRole
  createHandler: (deps: Deps) => Middleware
}

type Answered<Schema> = Schema extends z.ZodType ? Promise<z.output<Schema>> : Promise<void>

/** What stands in a path, by the segment before it. Where `docs` has it and a path begins with it, it is found before
 *  the query and the body are read, and given to the handler as `name`: 404 for what the caller may not see. */
const SEGMENTS = {
  companies: {
    description: 'The company.',
    example: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
    docs: 'companies',
    name: 'company',
  },
  apps: { description: 'The app.', example: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c', docs: 'apps', name: 'app' },
  keys: {
    description: 'The API key, by its id.',
    example: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c',
    docs: 'keys',
    name: 'key',
  },
  verifications: {
    description: 'The verification.',
    example: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
    docs: 'otps',
    name: 'verification',
  },
  users: { description: 'The user.', example: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0c', docs: 'users', name: 'user' },
  providers: { description: 'The name of the provider.', example: 'main-sms' },
  endpoints: { description: 'The endpoint.', example: 'whk_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  events: { description: 'The event, by its id.', example: 'evt_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  sessions: { description: 'The session.', example: 'ses_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  passkeys: { description: 'The passkey.', example: 'psk_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  queues: { description: 'The queue.', example: 'otp.reports' },
  recipients: { description: 'The rule, by its id.', example: 'rcp_01k2m8x4e9s7v3hqz5tnw6yb0c' },
  dead: { description: 'The dead letter, by its id.', example: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55' },
} as const satisfies Record<string, Segment>

interface Segment {
  description: string
  example: string
  docs?: keyof typeof COLLECTIONS
  name?: string
}

type DocOf<N> = N extends keyof typeof COLLECTIONS
  ? (typeof COLLECTIONS)[N] extends CollectionSpec<infer T>
    ? T
    : never
  : never

type OwnerOf<S> = S extends { docs: infer Docs; name: infer Name extends string }
  ? { [N in Name]: DocOf<Docs> }
  : unknown

type OwnerIn<R extends string> = R extends `${string} /${infer S extends keyof typeof SEGMENTS}/{${string}`
  ? OwnerOf<(typeof SEGMENTS)[S]>
  : unknown

type Call<R extends string, Query extends z.ZodType, Body extends z.ZodType> = OwnerIn<R> & {
  ctx: Context
  params: PathParams<R>
  query: z.output<Query>
  body: z.output<Body>
}

/** `mediaType`: of a body that is a text in place of JSON. */
type TextBody = { mediaType?: undefined } | { mediaType: string; maxBytes: number }

interface Declaration<
  Deps,
  R extends RequestLine,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Schema extends z.ZodType | null,
  Kept,
> extends Pick<ApiOperation, 'id' | 'summary' | 'description'> {
  /** Its path follows /admin/v1. */
  request: R
  role: LowestRole
  /** The session must have proved lately whose it is (step-up.ts); a function decides it by the call. `by_change`: the
   *  handler asks, because what is stored decides. */
  stepUp?: true | 'by_change' | ((call: Call<R, Query, Body>) => boolean)
  query?: Query
  /** Headers, and what stands in a query without being a member of its schema. */
  parameters?: readonly ApiParameter[]
  /** `documentedAs`: where the schema that checks it says less than a reader wants. `maxBytes`,
   *  `maxValues`: in place of the usual limits. */
  body?: {
    schema: Body
    example: unknown
    documentedAs?: z.ZodType
    maxBytes?: number
    maxValues?: number
  } & TextBody
  /** The status of the first is answered, unless the handler sets another. */
  answers: readonly Answer<Schema>[]
  /** Those that not every operation has. */
  refusals?: readonly ApiRefusal[]
  /** For a list: its name where it is exported (csv-export.ts). */
  csv?: string
  /** The member of the answer that has the lines of the file; `items` unless told. */
  csvLines?: string
  /** Users of a closed company may make this change too. */
  allowedWhenClosed?: true
  /** Operators may call it for a company that was deleted, too. */
  alsoDeleted?: true
  /** What is made once and used by every call. */
  keep?: (deps: Deps) => Kept
  handle: (call: Call<R, Query, Body>, deps: Deps, kept: Kept) => Answered<Schema>
}

/** For operations whose handlers need more than all have. */
export const operationWith =
  <Deps extends AdminDeps>() =>
  <
    const R extends RequestLine,
    Schema extends z.ZodType | null,
    Query extends z.ZodObject = z.ZodObject,
    Body extends z.ZodType = z.ZodUndefined,
    Kept = undefined,
  >(
    declared: Declaration<Deps, R, Query, Body, Schema, Kept>,
  ): AdminOperation<Deps> => {
    const { request, role, stepUp, query, body, answers, csv, allowedWhenClosed, keep, handle } = declared
    const { csvLines = 'items', alsoDeleted = false } = declared
    const { method, path } = splitRequestLine(request)
    const hasBody = readsBody(method, body)
    const findOwner = createFindOwner(path, alsoDeleted)
    return {
      ...describeOperation(declared, method, path),
      role,
      createHandler(deps) {
        const readBody: ReadBody =
          body?.mediaType !== undefined
            ? createReadTextBody(body.mediaType, body.maxBytes)
            : body?.maxBytes === undefined
              ? deps.readBody
              : createReadBody(body.maxBytes, body.maxValues)
        const kept = keep?.(deps) as Kept
        return async ctx => {
          const owner = await findOwner(ctx, deps.store)
          const given = {
            query: query && readQuery(ctx, query),
            body: hasBody ? await readBody(ctx, body?.schema ?? emptyBody) : undefined,
          }
          ctx.status = answers[0]?.status ?? 200
          ctx.state.allowedWhenClosed = allowedWhenClosed
          // The cast is safe: each member is what its schema in the declaration says.
          const call = { ctx, params: ctx.params, ...given, ...owner } as Call<R, Query, Body>
          if (stepUp === true || (typeof stepUp === 'function' && stepUp(call))) await requireStepUp(ctx, deps)
          if (csv !== undefined && wantsCsv(ctx)) {
            const items = linesSchema(answers[0]?.schema as z.ZodObject, csvLines)
            const read = { list: csv, items, query: given.query, owner: Object.values(owner)[0] }
            const readPage = async (page: PageOptions) => {
              const answer = (await handle({ ...call, query: { ...call.query, ...page } }, deps, kept)) as AnyPage
              return { items: answer[csvLines], next_cursor: answer.next_cursor ?? null }
            }
            return answerCsv(ctx, { ...read, readPage } as CsvExport, deps)
          }
          const answer = await handle(call, deps, kept)
          if (answer === undefined) return
          ctx.body = answer
          if (answers[0]?.mediaType !== undefined) ctx.type = answers[0].mediaType
        }
      },
    }
  }

export const operation = operationWith<AdminDeps>()

/** The guard stands at the operation itself: `router.use` matches paths by rules of its own, which let
 *  `/ADMIN/v1/companies` pass unguarded. */
export function mountOperations<Deps>(
  router: Router,
  operations: readonly AdminOperation<Deps>[],
  deps: Deps,
  identify: IdentifyPrincipal,
  admit: Pick<Admit, 'identifyInTurn' | 'user' | 'stranger'>,
): void {
  const identifyInTurn = admit.identifyInTurn(identify)
  for (const { method, path, role, createHandler } of operations) {
    // Before the body is read.
    const guards = role === 'anyone' ? [admit.stranger] : [createGuard(role, identifyInTurn), admit.user]
    router[method](routerPath(path), forbidCaching, ...guards, compressLargeAnswers, createHandler(deps))
  }
}

/** An answer whose lines stand in one of its members. */
type AnyPage = { next_cursor?: string | null } & { [lines: string]: readonly object[] }

/** Answers hold keys and personal data, which no cache may keep. */
const forbidCaching: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  return next()
}

const segmentOf = (segment: string): Segment | undefined => (SEGMENTS as Record<string, Segment>)[segment]

function createFindOwner(
  path: string,
  alsoDeleted: boolean,
): (ctx: Context, store: CountersignStore) => Promise<object> {
  const [, segment = '', parameter = ''] = /^\/(\w+)\/\{(\w+)\}/.exec(path) ?? []
  const { docs, name } = segmentOf(segment) ?? {}
  if (docs === undefined || name === undefined) return async () => ({})
  return async (ctx, store) => {
    const id = ctx.params[parameter]
    const deleted = alsoDeleted && principalOf(ctx).role === 'operator' ? await findDeletedCompany(store, id) : null
    if (deleted) return { [name]: deleted }
    // A verification is found by each of its ids.
    const first = docs === 'otps' && id !== undefined ? await firstIdOf(store.docs('joined_ids'), id) : null
    return { [name]: await getOr404(ctx, store.docs(docs) as Parameters<typeof getOr404>[1], first ?? id, name) }
  }
}

/** A POST without a declared body may carry an empty one. */
const readsBody = (method: HttpMethod, body: object | undefined): boolean => body !== undefined || method === 'post'

function describeOperation(
  declared: Omit<
    Declaration<never, RequestLine, z.ZodObject, z.ZodType, z.ZodType | null, never>,
    'keep' | 'handle' | 'stepUp'
  > & {
    stepUp?: unknown
  },
  method: HttpMethod,
  path: string,
): ApiOperation {
  const {
    id,
    role,
    stepUp,
    summary,
    description,
    query,
    parameters: others = [],
    body,
    answers,
    csv,
    csvLines = 'items',
    refusals = [],
  } = declared
  const open = role === 'anyone'
  const parameters = [...(query ? queryParameters(query) : []), ...others]
  const changesCompany = method !== 'get' && (role === 'developer' || role === 'owner')
  return {
    id,
    method,
    path: `${ADMIN_PATH}${path}`,
    summary,
    description: [
      description,
      ...(csv === undefined ? [] : [CSV_SENTENCE]),
      ...(open ? [] : [`Lowest role: \`${role}\`.`]),
    ].join(' '),
    security: open ? [] : [['operator'], method === 'get' ? ['session'] : ['session', 'csrf']],
    parameters: [...pathParameters(path), ...parameters],
    request: body
      ? {
          schema: body.documentedAs ?? unwrap(body.schema),
          example: body.example,
          // A text that is missing is an empty one.
          required: !body.schema.safeParse(body.mediaType === undefined ? undefined : '').success,
          ...(body.mediaType !== undefined && { mediaType: body.mediaType }),
        }
      : null,
    answers: csv === undefined ? answers : answers.map(answer => documentCsv(answer, csvLines)),
    refusals: [
      ...(open ? [] : [refusal.unauthorized, refusal.forbidden]),
      ...(path.includes('{') ? [refusal.notFound] : []),
      ...(readsBody(method, body) ? [commonRefusal.brokenJson, commonRefusal.tooLarge, commonRefusal.notJson] : []),
      ...(!body && parameters.length === 0 && method === 'get' ? [] : [refusal.invalid]),
      refusal.throttled,
      commonRefusal.failed,
      refusal.unavailable,
      ...(!changesCompany || declared.allowedWhenClosed ? [] : [refusal.companyClosed]),
      ...(stepUp === undefined ? [] : [stepUpRefusal]),
      ...refusals,
    ],
  }
}

const pathParameters = (path: string): ApiParameter[] =>
  [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(([, segment = '', name = '']) => {
    const { description = `The ${name}.`, example = name } = segmentOf(segment) ?? {}
    return { name, in: 'path', schema: z.string(), description, example }
  })
