// In: documents. Out: their shape: every path with the types of its values. A release can read the documents of another if their shapes are
// equal.

export type Shape = Record<string, string>

/** At paths that match `words` the value of a string is part of the shape, so that a renamed word changes it. */
export function shapeOf(documents: readonly unknown[], words = /$^/): Shape {
  const found = new Map<string, Set<string>>()
  for (const document of documents) collect(document, '')
  const entries = [...found].map(([path, types]) => [path, [...types].sort().join(' | ')])
  return Object.fromEntries(entries.sort(([a = ''], [b = '']) => a.localeCompare(b)))

  function collect(data: unknown, path: string): void {
    const types = found.get(path) ?? new Set()
    found.set(path, types.add(typeof data === 'string' && words.test(path) ? `'${data}'` : typeOf(data)))
    if (Array.isArray(data)) for (const item of data) collect(item, `${path}[]`)
    else if (typeof data === 'object' && data !== null)
      for (const [key, value] of Object.entries(data)) collect(value, path === '' ? key : `${path}.${key}`)
  }
}

const typeOf = (data: unknown): string => (data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data)
