// In: a text of a program or JSON. Out: HTML in which its comments, strings, names and numbers have classes of their own. It knows no
// grammar: what it takes for a string in the wrong place is coloured wrongly, and nothing else.
import { escapeText } from '../../../infra/html.ts'
import type { Html } from './html.ts'
import type { Language } from './samples/request.ts'

const word = (...words: string[]): string => `\\b(?:${words.join('|')})\\b`

/** Comments, strings, words of the language, in this order. A text may go on over lines between backquotes, and in a shell's quotes. */
const GRAMMARS: Record<Language | 'json', { comment?: string; string: string; keyword: string }> = {
  curl: {
    comment: '(?<=^|\\n)#[^\\n]*',
    string: `"(?:\\\\.|[^"\\\\])*"|'[^']*'`,
    keyword: word('curl', 'if', 'then', 'else', 'fi', 'export', 'echo', 'exit', 'printf', 'openssl', 'sed', 'cat'),
  },
  typescript: {
    comment: '/\\*[\\s\\S]*?\\*/|//[^\\n]*',
    string: "'(?:\\\\.|[^'\\\\\\n])*'|`(?:\\\\.|[^`\\\\])*`",
    keyword: word(
      'const',
      'await',
      'if',
      'throw',
      'new',
      'import',
      'from',
      'export',
      'function',
      'return',
      'true',
      'false',
      'null',
    ),
  },
  python: {
    comment: '#[^\\n]*',
    string: '"""[\\s\\S]*?"""|[fb]?"(?:\\\\.|[^"\\\\\\n])*"',
    keyword: word('import', 'from', 'if', 'not', 'raise', 'def', 'return', 'and', 'True', 'False', 'None'),
  },
  go: {
    comment: '//[^\\n]*',
    string: '"(?:\\\\.|[^"\\\\\\n])*"|`[^`]*`',
    keyword: word('package', 'import', 'func', 'if', 'nil', 'defer', 'return', 'string', 'bool', 'byte'),
  },
  php: {
    comment: '/\\*[\\s\\S]*?\\*/|//[^\\n]*',
    string: `'(?:\\\\.|[^'\\\\])*'|"(?:\\\\.|[^"\\\\])*"`,
    keyword: word(
      'php',
      'if',
      'throw',
      'new',
      'true',
      'false',
      'null',
      'function',
      'return',
      'array',
      'string',
      'bool',
      'int',
    ),
  },
  json: { string: '"(?:\\\\.|[^"\\\\])*"', keyword: word('true', 'false', 'null') },
}

const PATTERNS = new Map(
  Object.entries(GRAMMARS).map(([language, { comment = '(?!)', string, keyword }]) => [
    language,
    new RegExp(
      `(?<comment>${comment})|(?<string>${string})|(?<keyword>${keyword})|(?<number>\\b\\d+(?:\\.\\d+)?\\b)`,
      'g',
    ),
  ]),
)

const CLASSES = { comment: 'hc', string: 'hs', keyword: 'hk', number: 'hn' } as const

export function highlight(text: string, language: Language | 'json'): Html {
  const pattern = PATTERNS.get(language) ?? /(?!)/g
  let at = 0
  let html = ''
  for (const match of text.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? []
    const isName = language === 'json' && kind === 'string' && /^\s*:/.test(text.slice(match.index + match[0].length))
    html += escapeText(text.slice(at, match.index))
    html += isName
      ? escapeText(match[0])
      : `<i class="${CLASSES[kind as keyof typeof CLASSES]}">${escapeText(match[0])}</i>`
    at = match.index + match[0].length
  }
  return { html: html + escapeText(text.slice(at)) }
}
