// In: the operations and the schemas. Out: the OpenAPI 3.1 document, built once.
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../schemas.requests.ts'
import { componentSchemas, type JsonSchema, ref, type SchemaName } from './components.ts'
import { type DocumentedOperation, type Link, OPERATIONS } from './operations.ts'
import type { DocumentedRefusal } from './refusals.ts'

type Examples = Record<string, { summary?: string; value: unknown }>
type Content = Record<string, { schema: { $ref: string }; example?: unknown; examples?: Examples }>
type Reference = { $ref: string }

export interface Parameter {
  name: string
  in: 'path' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
}

export interface Response {
  description: string
  headers: Record<string, Reference>
  content: Content
  links?: Record<string, Link>
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: true; content: Content }
  responses: Record<string, Response>
}

export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; summary: string; description: string }
  servers: { url: string }[]
  paths: Record<string, Partial<Record<'get' | 'post', Operation>>>
  components: {
    schemas: Record<SchemaName, JsonSchema>
    headers: Record<string, { description: string; schema: JsonSchema }>
    securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>
  }
}

/** `base` is the URL of the API, or its path if the public URL is not known. */
export function createOpenApiDocument(base: string): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  for (const one of OPERATIONS) paths[one.path] = { ...paths[one.path], [one.method]: operationObject(one) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version: '1.0.0',
      summary: 'Proves that a person controls a phone number or an email address.',
      description:
        'Send a one-time code, check it, and learn whom it proves. Every error is `application/problem+json` with a stable `type`; every response carries `X-Request-Id`, your own if you sent one. Times are ISO 8601 in UTC. Unknown members of a body are ignored, and null in an optional member is the same as absent.',
    },
    servers: [{ url: base }],
    paths,
    components: { schemas: componentSchemas(), headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
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

const SECURITY_SCHEMES: OpenApiDocument['components']['securitySchemes'] = {
  server: { type: 'http', scheme: 'bearer', description: 'A server key (`sk_…`). Never leaves your backend.' },
  publishable: { type: 'http', scheme: 'bearer', description: 'A publishable key (`pk_…`), for apps and web pages.' },
}

function operationObject(one: DocumentedOperation): Operation {
  const parameters = parametersOf(one)
  const { request, answer } = one
  return {
    operationId: one.id,
    summary: one.summary,
    description: one.description,
    security: one.keys.map(kind => ({ [kind]: [] })),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: ref(request.schema) }, example: request.example } },
          },
        }),
    responses: {
      200: {
        description: answer.description,
        headers: headers('X-Request-Id'),
        content: {
          'application/json': {
            schema: { $ref: ref(answer.schema) },
            examples: Object.fromEntries(Object.entries(answer.examples).map(([name, value]) => [name, { value }])),
          },
        },
        ...(one.links === undefined ? {} : { links: one.links }),
      },
      ...refusalResponses(one.refusals),
    },
  }
}

function parametersOf({ path, idempotencyKey }: DocumentedOperation): Parameter[] {
  const otpId: Parameter = {
    name: 'otp_id',
    in: 'path',
    required: true,
    description: 'The verification, as `send` returned it.',
    schema: { type: 'string' },
  }
  const key: Parameter = {
    name: 'idempotency-key',
    in: 'header',
    required: false,
    description:
      'Names this send. A repeat with the same key gets the first response and sends no second code, even if its body names another recipient. The body of a repeat is checked like any other: one that is not valid is refused (`ValidationError`, `InvalidRecipientError`), and nothing else is checked again. It counts within your company, the mode and the kind of API key, for 24 hours by default.',
    schema: { type: 'string', maxLength: MAX_IDEMPOTENCY_KEY_LENGTH },
  }
  return [...(path.includes('{otp_id}') ? [otpId] : []), ...(idempotencyKey ? [key] : [])]
}

function refusalResponses(refusals: readonly DocumentedRefusal[]): Record<string, Response> {
  const statuses = [...new Set(refusals.map(({ status }) => status))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map(status => [
      status,
      refusalResponse(
        status,
        refusals.filter(one => one.status === status),
      ),
    ]),
  )
}

const refusalResponse = (status: number, refusals: readonly DocumentedRefusal[]): Response => ({
  description: refusals.map(({ type, when }) => `\`${type}\`: ${when}`).join('\n\n'),
  headers: headers('X-Request-Id', ...(EXTRA_HEADERS[status] ?? [])),
  content: {
    'application/problem+json': {
      schema: { $ref: ref('Problem') },
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

const headers = (...names: string[]): Record<string, Reference> =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
