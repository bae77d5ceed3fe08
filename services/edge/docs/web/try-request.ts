// In: what a reader filled into a form. Out: the request that it means, or why it is not sent. Pure.

export interface FilledField {
  name: string
  /** `json`: in the body, where it is more than a text. */
  in: 'path' | 'header' | 'query' | 'body' | 'json'
  value: string
}

export interface TryRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string | null
}

export type KeyKind = 'server' | 'publishable'

/** Undefined where the text is no key of test mode. */
export function testKeyKind(key: string): KeyKind | undefined {
  const [, prefix] = /^(sk|pk)_test_\w+$/.exec(key) ?? []
  if (prefix === undefined) return undefined
  return prefix === 'sk' ? 'server' : 'publishable'
}

/** Why this key is not used here; null where it may be. */
export function keyProblem(key: string, kinds: readonly string[]): string | null {
  if (key === '') return 'Paste a test key: sk_test_… or pk_test_….'
  if (/^(sk|pk)_live_/.test(key))
    return 'This is a live key: it would reach people and cost money. Use a test key, sk_test_… or pk_test_….'
  const kind = testKeyKind(key)
  if (kind === undefined) return 'This is no test key. One begins with sk_test_ or pk_test_.'
  return kinds.includes(kind) ? null : 'This call needs a server key: sk_test_….'
}

/** Without what stands in its path, a call would be another one. Null where nothing is missing. */
export function pathProblem(fields: readonly FilledField[]): string | null {
  const missing = fields.find(field => field.in === 'path' && field.value === '')
  return missing === undefined ? null : `Fill in ${missing.name}: it is a part of the address.`
}

/** A field that is left empty is not sent. */
export function buildRequest(method: string, path: string, key: string, fields: readonly FilledField[]): TryRequest {
  const given = fields.filter(({ value }) => value !== '')
  const valuesIn = (place: FilledField['in']): [string, string][] =>
    given.filter(field => field.in === place).map(({ name, value }) => [name, value])
  const inPath = new Map(valuesIn('path'))
  const query = new URLSearchParams(valuesIn('query')).toString()
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? ''))
  const hasBody = method !== 'GET'
  return {
    url: query === '' ? filled : `${filled}?${query}`,
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...Object.fromEntries(valuesIn('header')),
    },
    body: hasBody
      ? JSON.stringify({
          ...Object.fromEntries(valuesIn('body')),
          ...Object.fromEntries(valuesIn('json').map(([name, text]) => [name, jsonOrText(text)])),
        })
      : null,
  }
}

/** What is no JSON is sent as it stands: the server says what is wrong with it. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
