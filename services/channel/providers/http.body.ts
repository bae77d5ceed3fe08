// Fills a message into a JSON body. In: the body as configured, with placeholders in its strings. Out: the same with values in their place.
// In one pass: a value that looks like a placeholder is a value. Values cannot leave their string, as JSON is written afterwards.
type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export interface BodyValues {
  recipient: string
  text: string
  code: string
  delivery_id: string
}

const PLACEHOLDER = /\{\{(recipient|text|code|delivery_id)\}\}/g

export function fillBody(body: Json, values: BodyValues): Json {
  if (typeof body === 'string') return body.replace(PLACEHOLDER, (_, name: keyof BodyValues) => values[name])
  if (Array.isArray(body)) return body.map(one => fillBody(one, values))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillBody(value, values)]))
}
