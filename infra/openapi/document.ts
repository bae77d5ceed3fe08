// In: the parts that the services describe. Out: one OpenAPI 3.1 document.
import type { z } from 'zod'
import type {
  ApiAnswer,
  ApiHeader,
  ApiLink,
  ApiOperation,
  ApiParameter,
  ApiPart,
  ApiRefusal,
  ApiWebhook,
  HttpMethod,
  SecurityScheme,
} from './operation.ts'
import { type JsonSchema, referredSchemas, refTo, schemaOrRef } from './schemas.ts'

type Examples = Record<string, { summary?: string; value: unknown }>
type Content = Record<string, { schema: { $ref: string }; example?: unknown; examples?: Examples }>
export type Reference = { $ref: string }

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
  example?: unknown
}

export interface Header {
  description: string
  schema: JsonSchema
}

export interface Response {
  description: string
  headers?: Record<string, Reference | Header>
  content?: Content
  links?: Record<string, ApiLink>
}

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Response | Reference>
}

export interface OpenApiInfo {
  title: string
  version: string
  summary: string
  description: string
  contact: { name: string }
  license: { name: string; identifier: string }
}

export interface Server {
  url: string
  description: string
  variables?: Record<string, { default: string; description: string }>
}

export interface OpenApiDocument {
  openapi: '3.1.0'
  info: OpenApiInfo
  servers: Server[]
  tags: { name: string; description: string }[]
  paths: Record<string, Partial<Record<HttpMethod, Operation>>>
  webhooks: Record<string, { post: Operation }>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, Response>
    headers: Record<string, Header>
    securitySchemes: Record<string, SecurityScheme>
  }
}

export interface DocumentInput {
  info: OpenApiInfo
  server: Server
  parts: readonly ApiPart[]
  /** The body of every refusal. */
  problem: z.ZodType
  problemMediaType?: string
}

type Refusals = Required<Pick<DocumentInput, 'problem' | 'problemMediaType'>>

export function createOpenApiDocument({ info, server, parts, ...refusals }: DocumentInput): OpenApiDocument {
  const described: Refusals = { problemMediaType: 'application/problem+json', ...refusals }
  const paths: OpenApiDocument['paths'] = {}
  const webhooks: OpenApiDocument['webhooks'] = {}
  for (const { tag, operations, webhooks: events = [] } of parts) {
    for (const one of operations)
      paths[one.path] = { ...paths[one.path], [one.method]: operationObject(one, tag.name, described) }
    for (const one of events) webhooks[one.name] = { post: webhookObject(one, tag.name) }
  }
  const responses = shareResponses(Object.values(paths).flatMap(methods => Object.values(methods)))
  return {
    openapi: '3.1.0',
    info,
    servers: [server],
    tags: parts.map(({ tag }) => tag),
    paths,
    webhooks,
    components: {
      schemas: referredSchemas([paths, webhooks, responses]),
      responses,
      headers: HEADERS,
      securitySchemes: Object.assign({}, ...parts.map(({ securitySchemes }) => securitySchemes)),
    },
  }
}

const HEADERS: OpenApiDocument['components']['headers'] = {
  'X-Request-Id': {
    description:
      'Names this request in our logs: yours if you sent a well-formed one (1 to 128 of `A–Z a–z 0–9 . _ -`).',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
}

function operationObject(one: ApiOperation, tag: string, described: Refusals): Operation {
  const { request, answers, refusals, links } = one
  return {
    operationId: one.id,
    tags: [tag],
    summary: one.summary,
    description: one.description,
    security: one.security.map(schemes => Object.fromEntries(schemes.map(name => [name, []]))),
    ...(one.parameters.length === 0 ? {} : { parameters: one.parameters.map(parameterObject) }),
    ...(request === null
      ? {}
      : {
          requestBody: {
            required: request.required,
            content: {
              [request.mediaType ?? 'application/json']: { schema: refTo(request.schema), example: request.example },
            },
          },
        }),
    responses: {
      ...Object.fromEntries(answers.map(answer => [answer.status, answerObject(answer, links)])),
      ...refusalResponses(refusals, described),
    },
  }
}

/** Replaces every response that several operations have by a reference to one component: most refusals are the same everywhere. */
function shareResponses(operations: readonly Operation[]): Record<string, Response> {
  const counts = new Map<string, number>()
  for (const { responses } of operations)
    for (const one of Object.values(responses))
      counts.set(JSON.stringify(one), (counts.get(JSON.stringify(one)) ?? 0) + 1)
  const names = new Map<string, string>()
  const shared: Record<string, Response> = {}
  for (const { tags, responses } of operations)
    for (const [status, one] of Object.entries(responses)) {
      const text = JSON.stringify(one)
      if ('$ref' in one || (counts.get(text) ?? 0) < 2 || status.startsWith('2')) continue
      const name = names.get(text) ?? unusedName(`${tags[0]}${status}`, shared)
      names.set(text, name)
      shared[name] = one
      responses[status] = { $ref: `#/components/responses/${name}` }
    }
  return shared
}

const unusedName = (name: string, used: Record<string, unknown>): string => {
  const alternatives = ['', ...'BCDEFGHIJKLMNOPQRSTUVWXYZ'].map(letter => `${name}${letter}`)
  return alternatives.find(one => !(one in used)) ?? name
}

/** The response itself, where an operation only refers to it. */
export function resolveResponse(document: OpenApiDocument, response: Response | Reference): Response {
  if (!('$ref' in response)) return response
  const name = response.$ref.slice(response.$ref.lastIndexOf('/') + 1)
  const found = document.components.responses[name]
  if (found === undefined) throw new Error(`there is no response ${name}`)
  return found
}

const parameterObject = ({ name, in: place, description, schema, example }: ApiParameter): Parameter => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: schemaOrRef(schema),
  ...(example === undefined ? {} : { example }),
})

const answerObject = (
  {
    description,
    mediaType = 'application/json',
    schema,
    examples,
    otherForms = {},
    headers: ownHeaders = {},
  }: ApiAnswer,
  links: Record<string, ApiLink> | undefined,
): Response => ({
  description,
  headers: {
    ...headers('X-Request-Id'),
    ...headerObjects(ownHeaders),
  },
  ...(schema === null
    ? {}
    : {
        content: {
          [mediaType]: {
            schema: refTo(schema),
            examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
          },
          ...Object.fromEntries(
            Object.entries(otherForms).map(([type, form]) => [
              type,
              { schema: refTo(form.schema), examples: { example: { value: form.example } } },
            ]),
          ),
        },
      }),
  ...(links === undefined ? {} : { links }),
})

function refusalResponses(refusals: readonly ApiRefusal[], described: Refusals): Record<string, Response> {
  const statuses = [...new Set(refusals.map(({ status }) => status))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map(status => [
      status,
      refusalResponse(
        status,
        refusals.filter(one => one.status === status),
        described,
      ),
    ]),
  )
}

const refusalResponse = (
  status: number,
  refusals: readonly ApiRefusal[],
  { problem, problemMediaType }: Refusals,
): Response => ({
  description: refusals.map(({ type, when }) => `\`${type}\`: ${when}`).join('\n\n'),
  headers: {
    ...headers('X-Request-Id', ...(EXTRA_HEADERS[status] ?? [])),
    ...headerObjects(Object.assign({}, ...refusals.map(one => one.headers))),
  },
  content: {
    [problemMediaType]: {
      schema: refTo(problem),
      examples: Object.fromEntries(
        refusals.map(({ type, when, example }) => [type, { summary: when, value: example }]),
      ),
    },
  },
})

const EXTRA_HEADERS: Record<number, string[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const headerObjects = (own: Record<string, ApiHeader>): Record<string, Header> =>
  Object.fromEntries(
    Object.entries(own).map(([name, header]) => [name, { ...header, schema: schemaOrRef(header.schema) }]),
  )

const headers = (...names: string[]): Record<string, Reference> =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))

const webhookObject = (one: ApiWebhook, tag: string): Operation => ({
  operationId: one.id,
  tags: [tag],
  summary: one.summary,
  description: one.description,
  security: [],
  parameters: one.headers.map(header => ({ ...parameterObject(header), required: true })),
  requestBody: {
    required: true,
    content: { 'application/json': { schema: refTo(one.schema), example: one.example } },
  },
  responses: {
    '2XX': { description: 'The event was received. The body is not read, its beginning is shown to operators.' },
    '410': { description: 'The endpoint is gone: it is paused at once.' },
    default: { description: 'The event was not received: it is sent again later.' },
  },
})
