// Compares answers with the OpenAPI documents. The helpers that call the two APIs check every answer with it, so each test that goes over
// HTTP is a test of the document too. In: a request and its answer. Out: nothing, or an error that says how the two differ.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { CSV_TYPE } from '../../infra/csv.ts'
import type { OpenApiDocument, Operation, Response } from '../../infra/openapi/document.ts'
import { resolveResponse } from '../../infra/openapi/document.ts'
import { LINES_TYPE } from '../../services/dashboard/lines.ts'
import { createFileDocument, createTwilioFileDocument } from '../openapi/document.ts'

interface Documented {
  document: OpenApiDocument
  operation: Operation
}

interface DocumentedOperation extends Documented {
  method: string
  pattern: RegExp
  parameters: number
}

const documents = [createFileDocument(), createTwilioFileDocument()]

const served = documents.flatMap(document =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): DocumentedOperation => ({
        document,
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        parameters: path.split('{').length - 1,
        operation,
      }),
    ),
  ),
)

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/)
for (const { info, components } of documents) ajv.addSchema({ $id: idOf(info), components })
const validators = new Map<string, ValidateFunction>()

function idOf({ title }: OpenApiDocument['info']): string {
  return encodeURIComponent(title)
}

export interface SeenAnswer {
  method: string
  /** From the root of the server; its query is ignored. */
  path: string
  status: number
  /** The Content-Type header. */
  type: string | null
  /** Parsed; null without a body. */
  body: unknown
}

/** A file of CSV or NDJSON stays a text. */
// biome-ignore lint/suspicious/noExplicitAny: parsed JSON of any shape
export const parseBody = (text: string, type: string | null): any => {
  const isText = [CSV_TYPE, LINES_TYPE].some(media => type?.startsWith(media))
  if (isText) return text
  return text === '' ? null : JSON.parse(text)
}

/** What the API answers where it has no operation: not found, another method, a path that cannot be decoded. */
const WITHOUT_ROUTE = new Set([400, 404, 405])

export function checkDocumented({ method, path, status, type, body }: SeenAnswer): void {
  const pathname = path.replace(/[?#].*$/, '')
  const found = findOperation(method, pathname)
  if (found === undefined) return
  const { document, operation } = found
  const response = operation.responses[status]
  const where = `${method} ${pathname} answered ${status}`
  if (response === undefined) {
    if (WITHOUT_ROUTE.has(status)) return
    throw new Error(`${where}, which ${operation.operationId} does not document: ${JSON.stringify(body)}`)
  }
  checkBody(where, document, resolveResponse(document, response), type, body)
}

/** The operation with the fewest parameters that matches: `/events/replay` before `/events/{id}`. */
function findOperation(method: string, path: string): Documented | undefined {
  const matching = served.filter(one => one.method === method.toUpperCase() && one.pattern.test(path))
  return matching.sort((one, other) => one.parameters - other.parameters)[0]
}

function checkBody(
  where: string,
  { info }: OpenApiDocument,
  { content }: Response,
  type: string | null,
  body: unknown,
): void {
  if (content === undefined) {
    if (body !== null && body !== '') throw new Error(`${where} with a body, and the document has none`)
    return
  }
  const [, { schema } = { schema: { $ref: '' } }] =
    Object.entries(content).find(([media]) => type?.startsWith(media)) ?? []
  if (schema.$ref === '') throw new Error(`${where} as ${type}, not as ${Object.keys(content)}`)
  const validate = validatorOf(`${idOf(info)}${schema.$ref}`)
  if (!validate(body)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`)
}

function validatorOf(ref: string): ValidateFunction {
  const known = validators.get(ref) ?? ajv.compile({ $ref: ref })
  validators.set(ref, known)
  return known
}
