// Makes the schema of a config from the declaration of its type. As with settings, a config is stored as it was written, and defaults are
// resolved when it is read.
import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { countValues, isJsonObject, type JsonObject } from '../../../infra/json-object.ts'
import type { ConfigField, ProviderDeclaration } from './provider-types/declaration.ts'
import { baseUrl, domain, text, webAddress } from './value-schemas.ts'

const MAX_LINES_LENGTH = 10_000

/** Of headers, and of members and items of a body: the value of each may be a secret, whose fingerprint takes its time. */
const MAX_VALUES = 200
const hasFewValues = (value: unknown): boolean => countValues(value) <= MAX_VALUES
const TOO_MANY_VALUES = `has more than ${MAX_VALUES} members and items`

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of an HTTP header')
const headerValue = z
  .string()
  .max(8_000)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of an HTTP header')

const SCHEMAS_BY_KIND = {
  text: ({ max }: ConfigField) => text(max),
  lines: () => z.string().min(1).max(MAX_LINES_LENGTH),
  number: ({ max = Number.MAX_SAFE_INTEGER }: ConfigField) => z.int().min(1).max(max),
  switch: () => z.boolean(),
  choice: ({ choices = [] }: ConfigField) => z.enum(choices),
  headers: () => z.record(headerName, headerValue).refine(hasFewValues, TOO_MANY_VALUES),
  json: () => z.json().refine(hasFewValues, TOO_MANY_VALUES),
  url: () => webAddress,
  base_url: () => baseUrl,
  host: () => z.string().regex(/^[A-Za-z0-9._:-]{1,253}$/, 'must be a host name or an IP address'),
  domain: () => domain,
}

function valueSchema(field: ConfigField, isSet: boolean): z.ZodType {
  const { kind = 'text', pattern, max = Number.POSITIVE_INFINITY, key } = field
  if (pattern) return z.string().max(max).regex(pattern.is, pattern.words)
  const schema: z.ZodType = SCHEMAS_BY_KIND[kind](field)
  return isSet && key
    ? schema.refine(isRsaPrivateKey, 'must be an RSA private key in PEM, without a passphrase')
    : schema
}

function memberSchema(field: ConfigField, isSet: boolean): z.ZodType {
  const schema = valueSchema(field, isSet)
  if (field.required) return schema
  // The value of a switch may be a problem itself, so a default that depends on it is filled in at the end.
  return field.default === undefined || field.defaultWhen
    ? schema.nullable().default(null)
    : schema.default(field.default)
}

/** `isSet`: for a config that is being set, rather than one that is read. */
export function configSchema({ config, oneOf }: ProviderDeclaration, isSet: boolean): z.ZodType {
  const fields = Object.entries(config)
  const members: Record<string, z.ZodType> = {}
  const groups: Record<string, Record<string, z.ZodType>> = {}
  for (const [path, field] of fields) {
    const [name = '', inner] = path.split('.')
    if (inner === undefined) members[name] = memberSchema(field, isSet)
    else groups[name] = { ...groups[name], [inner]: memberSchema(field, isSet) }
  }
  for (const [name, group] of Object.entries(groups)) members[name] = z.strictObject(group).nullable().default(null)
  let schema = z.strictObject(members)
  if (oneOf) {
    const [first, second] = oneOf
    schema = schema.refine(given => given[first] !== null || given[second] !== null, {
      path: [first],
      message: `is required, unless there is a ${second}`,
      // Also beside the problems of other members.
      when: ({ value }) => isJsonObject(value),
    })
  }
  for (const [path, { onlyWith }] of fields)
    if (onlyWith !== undefined)
      schema = schema.refine(given => (given[onlyWith] === null) === (given[path] === null), {
        path: [path],
        message: `is required with a ${onlyWith}, and only then`,
      })
  return schema.transform(given => ({ ...given, ...dependentDefaults(fields, given) }))
}

const dependentDefaults = (fields: [string, ConfigField][], given: JsonObject): JsonObject =>
  Object.fromEntries(
    fields.flatMap(([path, { default: usual, defaultWhen }]) =>
      defaultWhen ? [[path, given[path] ?? (given[defaultWhen.switch] ? defaultWhen.default : usual)]] : [],
    ),
  )

function isRsaPrivateKey(pem: unknown): boolean {
  try {
    return createPrivateKey(String(pem)).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
