// In: a text that should be JSON. Out: whether it holds too much, the value, or the line and column where the text stops being JSON.
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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const NEWLINE = 0x0a
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** Which limit a text exceeds, if it is JSON. It is far quicker than parsing, and ends where a limit is exceeded. */
export function excessIn(text: string, max: { nesting: number; values: number }): 'nesting' | 'values' | null {
  let [nesting, values] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfString(text, at)
    else if (OPENING.has(character)) {
      nesting += 1
      // Of the first of its members, which no comma precedes.
      values += 1
      if (nesting > max.nesting) return 'nesting'
    } else if (CLOSING.has(character)) nesting -= 1
    else if (character === COMMA) values += 1
    if (values > max.values) return 'values'
  }
  return null
}

/** The position of its closing quote, or the end of the text. */
function endOfString(text: string, opening: number): number {
  let at = opening
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return at
  }
}

function describeSyntaxError(text: string, at: number): string {
  const lineStart = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const place = `line ${countNewlines(text, at) + 1}, column ${at - lineStart + 1}`
  const found = [...text.slice(at, at + 2)][0]
  return found === undefined ? `it ends too early, at ${place}` : `unexpected ${JSON.stringify(found)} at ${place}`
}

function countNewlines(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at += 1) if (text.charCodeAt(at) === NEWLINE) count += 1
  return count
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
