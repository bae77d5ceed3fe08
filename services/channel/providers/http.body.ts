// Fills a message into the JSON body of an HTTP gateway. In: the configured body, with placeholders in its strings. Out: the body with
// values in their place. One pass only: a value that looks like a placeholder stays as it is. The result is serialized afterwards, so a
// value cannot break out of its string.
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
  if (Array.isArray(body)) return body.map(item => fillBody(item, values))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillBody(value, values)]))
}
