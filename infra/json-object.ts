// An object as JSON knows it, with any members. In: a value of any kind. Out: whether it is one; a list is none.
export type JsonObject = Record<string, unknown>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
