// In: zod schemas. Out: JSON Schemas for an OpenAPI 3.1 document. A zod schema with an `id` is a component, and is referred to by its name.
// Every schema says its type, because generators take a schema without one for "anything".
import { z } from 'zod'

export type JsonSchema = z.core.JSONSchema.BaseSchema

const PREFIX = '#/components/schemas/'

/** A reference to a named schema, or the schema itself. */
export function schemaOrRef(schema: z.ZodType): JsonSchema {
  const id = z.globalRegistry.get(schema)?.id
  if (id !== undefined) return { $ref: `${PREFIX}${id}` }
  const { $schema: _, ...inline } = z.toJSONSchema(schema, { io: 'input', override: simplify })
  return inline as JsonSchema
}

export function refTo(schema: z.ZodType): { $ref: string } {
  const id = z.globalRegistry.get(schema)?.id
  if (id === undefined) throw new Error('a request or an answer needs a schema with an id')
  return { $ref: `${PREFIX}${id}` }
}

/** Every named schema that `document` refers to, directly or not, in the order of names. */
export function referredSchemas(document: unknown): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: 'input',
    uri: id => `${PREFIX}${id}`,
    override: simplify,
  })
  const found = new Map<string, JsonSchema>()
  const waiting = refsIn(document)
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const { $id: _, $schema: __, ...schema } = schemas[name] ?? {}
    found.set(name, schema as JsonSchema)
    waiting.push(...refsIn(schema))
  }
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' && member.startsWith(PREFIX)
      ? [member.slice(PREFIX.length)]
      : refsIn(member),
  )
}

/** The formats that OpenAPI and JSON Schema define. zod invents others, such as `starts_with`. */
const FORMATS = new Set(['date-time', 'date', 'email', 'uri', 'ipv4', 'ipv6', 'uuid'])

function simplify({ jsonSchema: schema }: { jsonSchema: JsonSchema }): void {
  // The limits of safe integers say nothing to a reader.
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.format === 'date-time') delete schema.pattern
  if (schema.format !== undefined && !FORMATS.has(schema.format)) delete schema.format
  if (isPlainText(schema.propertyNames)) delete schema.propertyNames
  if (isEmpty(schema.additionalProperties)) schema.additionalProperties = true
  // Python knows no classes of characters, so tools in Python fail at such a pattern.
  if (schema.pattern?.includes('\\p{')) delete schema.pattern
  if (schema.allOf?.every(isPattern)) delete schema.allOf
  mergeNull(schema)
}

/** Several patterns of one text: generators take each for a schema without a type. The service checks them all the same. */
const isPattern = (schema: JsonSchema | boolean): boolean =>
  typeof schema === 'object' && schema.pattern !== undefined && schema.type === undefined

const isEmpty = (schema: JsonSchema | boolean | undefined): boolean =>
  typeof schema === 'object' && Object.keys(schema).length === 0

const isPlainText = (schema: JsonSchema | boolean | undefined): boolean =>
  typeof schema === 'object' && schema.type === 'string' && Object.keys(schema).length === 1

/** `anyOf` of a simple type and null becomes a list of types. Objects, references and enums stay: generators name them. */
function mergeNull(schema: JsonSchema): void {
  const [value, nothing, ...others] = schema.anyOf ?? []
  if (typeof value !== 'object' || typeof nothing !== 'object' || nothing.type !== 'null' || others.length > 0) return
  if (typeof value.type !== 'string' || value.type === 'object' || value.enum !== undefined) return
  delete schema.anyOf
  const { type, ...rest } = value
  Object.assign(schema, rest, { type: [type, 'null'] }, schema)
}
