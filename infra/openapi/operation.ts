// How a service describes its HTTP API: one ApiPart, with an ApiOperation for each operation. document.ts joins the
// parts of all services into one OpenAPI document. Bodies are zod schemas. One that has an `id` (`.meta({ id })`)
// becomes a component of that name; a request or an answer must have one, because generators name their types after it.
import { z } from 'zod'

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** As HTTP calls it: a method, and a path with `{name}` for each parameter. */
export type RequestLine = `${Uppercase<HttpMethod>} /${string}`

/** The parameters in the path of a request line. */
export type PathParams<R extends string> = R extends `${string}{${infer Name}}${infer Rest}`
  ? { [Member in Name]: string } & PathParams<Rest>
  : unknown

export interface ApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  schema: z.ZodType
  example?: unknown
}

export interface ApiAnswer {
  status: number
  description: string
  /** application/json where none is given. */
  mediaType?: string
  /** Null for an answer without a body. */
  schema: z.ZodType | null
  /** By what the example shows. */
  examples: Record<string, unknown>
  /** The forms other than JSON that a caller can ask for with the header `Accept`, by media type. */
  otherForms?: Record<string, { schema: z.ZodType; example: string }>
  /** Beside those of every answer, by their names. */
  headers?: Record<string, ApiHeader>
}

export interface ApiHeader {
  description: string
  schema: z.ZodType
}

export interface ApiRefusal {
  status: number
  /** The `type` of the problem. */
  type: string
  /** The case in which it is answered, for readers. */
  when: string
  example: Record<string, unknown>
  /** Beside those of every refusal with its status, by their names. */
  headers?: Record<string, ApiHeader>
}

/** Leads to another operation and passes a member of this answer to it. */
export interface ApiLink {
  operationId: string
  description: string
  parameters?: Record<string, string>
  requestBody?: Record<string, string>
}

export interface ApiOperation {
  /** Unique in the document. Generators make a method of this name. */
  id: string
  method: HttpMethod
  /** From the root of the server, with `{name}` for each parameter. */
  path: string
  summary: string
  description: string
  /** Alternatives, each a list of security schemes that are needed together. An empty list of alternatives: no authentication. */
  security: readonly (readonly string[])[]
  /** Those of the path are required, the others optional. */
  parameters: readonly ApiParameter[]
  /** `mediaType`: application/json where none is given. */
  request: { schema: z.ZodType; example: unknown; required: boolean; mediaType?: string } | null
  answers: readonly ApiAnswer[]
  refusals: readonly ApiRefusal[]
  /** The operations that can follow, with members of the answer. */
  links?: Record<string, ApiLink>
}

/** A request that the product sends to its user's server. */
export interface ApiWebhook {
  /** The `type` of its events. */
  name: string
  id: string
  summary: string
  description: string
  headers: readonly ApiParameter[]
  schema: z.ZodType
  example: unknown
}

export type SecurityScheme =
  | { type: 'http'; scheme: 'bearer' | 'basic'; description: string }
  | { type: 'apiKey'; in: 'header' | 'cookie'; name: string; description: string }

export interface ApiPart {
  tag: { name: string; description: string }
  securitySchemes: Record<string, SecurityScheme>
  operations: readonly ApiOperation[]
  webhooks?: readonly ApiWebhook[]
}

export function splitRequestLine(requestLine: RequestLine): { method: HttpMethod; path: string } {
  const [method = '', path = ''] = requestLine.split(' ')
  return { method: method.toLowerCase() as HttpMethod, path }
}

/** As Koa's router writes it. */
export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** The parameters of a query, from the schema that it is parsed with. Each member says its `description`, and, where it
 *  is parsed from a text into something else, the schema that it is `documentedAs`. */
export const queryParameters = ({ shape }: z.ZodObject): ApiParameter[] =>
  Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
    const { description = '', documentedAs } = schema.meta() ?? {}
    return { name, in: 'query', description, schema: documentedAs instanceof z.ZodType ? documentedAs : unwrap(schema) }
  })

/** The schema of a value that is there. */
export const unwrap = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrap(schema.unwrap() as z.ZodType) : schema
