// An object as JSON knows it, with any members. In: a value of any kind. Out: whether it is one; a list is none.
export type JsonObject = Record<string, unknown>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members and items at any depth. */
export function countValues(value: unknown): number {
  let count = 0
  for (const stack = [value]; stack.length > 0; ) {
    const one = stack.pop()
    if (typeof one !== 'object' || one === null) continue
    const inner = Array.isArray(one) ? one : Object.values(one)
    count += inner.length
    for (const each of inner) if (typeof each === 'object') stack.push(each)
  }
  return count
}
