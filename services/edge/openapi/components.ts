// In: the zod schemas of requests and answers. Out: named JSON Schemas that refer to each other by name.
import { z } from 'zod'
import * as answers from '../schemas.answers.ts'
import * as requests from '../schemas.requests.ts'

const SCHEMAS = {
  SendRequest: requests.sendRequest,
  ResendRequest: requests.resendRequest,
  VerifyRequest: requests.verifyRequest,
  CancelRequest: requests.cancelRequest,
  ExchangeRequest: requests.exchangeRequest,
  Verification: answers.verification,
  VerificationStatus: answers.verificationStatus,
  Verified: answers.verified,
  Exchanged: answers.exchanged,
  Delivery: answers.delivery,
  Problem: answers.problemDetails,
}

export type SchemaName = keyof typeof SCHEMAS

export type JsonSchema = z.core.JSONSchema.BaseSchema

export const ref = (name: SchemaName): string => `#/components/schemas/${name}`

/** For tests, which check the examples against it. */
export const schemaNamed = (name: SchemaName): z.ZodType => SCHEMAS[name]

export function componentSchemas(): Record<SchemaName, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: id => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => removeNoise(jsonSchema),
  })
  for (const schema of Object.values(schemas)) {
    delete schema.$id
    delete schema.$schema
  }
  return schemas as Record<SchemaName, JsonSchema>
}

/** Removes what says nothing to a reader: the limits of safe integers, and the pattern of `date-time`. */
function removeNoise(schema: JsonSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.format === 'date-time') delete schema.pattern
}
