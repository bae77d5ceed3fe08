// In: a JSON value. Out: the same value as a program writes it, in the words of a language. A short object or list is on one line.

export interface Dialect {
  indent: string
  text(value: string): string
  member(name: string, value: string): string
  nothing: string
  yes: string
  no: string
  object: Brackets
  list: Brackets
  emptyObject: string
}

/** `space` stands between the brackets and what is on one line with them. */
interface Brackets {
  open: string
  close: string
  space: string
}

const MAX_INLINE_LENGTH = 60

export function writeLiteral(value: unknown, dialect: Dialect, depth = 0): string {
  if (typeof value === 'string') return dialect.text(value)
  if (typeof value === 'boolean') return value ? dialect.yes : dialect.no
  if (value === null || value === undefined) return dialect.nothing
  if (Array.isArray(value)) {
    const items = value.map(item => writeLiteral(item, dialect, depth + 1))
    return items.length === 0
      ? dialect.list.open + dialect.list.close
      : wrap(items, dialect.list, dialect.indent, depth)
  }
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).map(([name, member]) =>
    dialect.member(name, writeLiteral(member, dialect, depth + 1)),
  )
  return members.length === 0 ? dialect.emptyObject : wrap(members, dialect.object, dialect.indent, depth)
}

export function wrap(
  parts: readonly string[],
  { open, close, space }: Brackets,
  indent: string,
  depth: number,
): string {
  const inline = `${open}${space}${parts.join(', ')}${space}${close}`
  if (inline.length <= MAX_INLINE_LENGTH && !inline.includes('\n')) return inline
  const inner = indent.repeat(depth + 1)
  return `${open}\n${parts.map(part => `${inner}${part},\n`).join('')}${indent.repeat(depth)}${close}`
}

const quoteTypeScript = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`

export const TYPESCRIPT: Dialect = {
  indent: '  ',
  text: quoteTypeScript,
  member: (name, value) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoteTypeScript(name)}: ${value}`,
  nothing: 'null',
  yes: 'true',
  no: 'false',
  object: { open: '{', close: '}', space: ' ' },
  list: { open: '[', close: ']', space: '' },
  emptyObject: '{}',
}

export const PYTHON: Dialect = {
  indent: '    ',
  // A JSON text is a Python text as well.
  text: text => JSON.stringify(text),
  member: (name, value) => `${JSON.stringify(name)}: ${value}`,
  nothing: 'None',
  yes: 'True',
  no: 'False',
  object: { open: '{', close: '}', space: '' },
  list: { open: '[', close: ']', space: '' },
  emptyObject: '{}',
}
