// Fills a message into the JSON body of an HTTP gateway. In: the configured body, with placeholders in its strings. Out: the body with
// values in their place. One pass only: a value that looks like a placeholder stays as it is. The result is serialized afterwards, so a
// value cannot break out of its string.
import type { Json } from '../../domain/tenancy/provider-types/declaration.ts'
import { PLACEHOLDERS } from '../../domain/tenancy/provider-types/http.ts'

export type BodyValues = Record<keyof typeof PLACEHOLDERS, string>

const PLACEHOLDER = new RegExp(`\\{\\{(${Object.keys(PLACEHOLDERS).join('|')})\\}\\}`, 'g')

export function fillBody(body: Json, values: BodyValues): Json {
  if (typeof body === 'string') return body.replace(PLACEHOLDER, (_, name: keyof BodyValues) => values[name])
  if (Array.isArray(body)) return body.map(item => fillBody(item, values))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillBody(value, values)]))
}
