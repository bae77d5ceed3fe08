// In: a text that should be JSON. Out: the value, or the line and column where the text stops being JSON.
// The position comes from a scanner of our own: JavaScript engines word their errors differently, and some give no position.
export type ParsedJson = { ok: true; value: unknown } | { ok: false; message: string }

export function parseJson(text: string): ParsedJson {
  // Some editors write a byte order mark first, which JSON.parse refuses.
  const bare = text.replace(/^\uFEFF/, '')
  try {
    return { ok: true, value: JSON.parse(bare) }
  } catch {
    return { ok: false, message: `not JSON: ${describeSyntaxError(bare, findSyntaxError(bare))}` }
  }
}

function describeSyntaxError(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
  const found = [...text.slice(at, at + 2)][0]
  return found === undefined ? `it ends too early, at ${place}` : `unexpected ${JSON.stringify(found)} at ${place}`
}

const TOKEN =
  /[{}[\],:]|"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy
const SPACE = /[ \t\n\r]*/y

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end'

/** The position of the first token that is not allowed there, or the length of the text if the end is missing. */
function findSyntaxError(text: string): number {
  const open: ('{' | '[')[] = []
  const after = (): Expected => (open.at(-1) === '{' ? ', or }' : open.at(-1) === '[' ? ', or ]' : 'end')
  let expected: Expected = 'value'
  let at = 0
  for (;;) {
    at = endOf(SPACE, text, at) ?? at
    const end = endOf(TOKEN, text, at)
    if (end === null) return at
    const token = text.slice(at, end)
    const next = nextExpected(token, expected, open, after)
    if (next === null) return at
    expected = next
    at = end
  }
}

function nextExpected(token: string, expected: Expected, open: ('{' | '[')[], after: () => Expected): Expected | null {
  if (token === '}' || token === ']') {
    if (!expected.endsWith(token)) return null
    open.pop()
    return after()
  }
  if (expected.startsWith('name')) return token.startsWith('"') ? ':' : null
  if (expected === ':') return token === ':' ? 'value' : null
  if (expected === ', or }') return token === ',' ? 'name' : null
  if (expected === ', or ]') return token === ',' ? 'value' : null
  if (expected === 'end' || token === ',' || token === ':') return null
  if (token !== '{' && token !== '[') return after()
  open.push(token)
  return token === '{' ? 'name or }' : 'value or ]'
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}
