// In: the HTML of a page of the reference. Out: the same as Markdown, for programs that read. It knows the tags that these pages are made
// of, and leaves out what only a browser can use: forms, the choice of a language, links to neighbours.
import { unescapeHtml } from '../../../infra/html.ts'
import { FRONT_PATH } from './front-path.ts'

const LEFT_OUT = new Set(['fieldset', 'form', 'nav', 'datalist'])
const FENCE = '```'
const BLOCK = '\n\n'

export function toMarkdown(page: string): string {
  const written: string[] = []
  const links: string[] = []
  let leftOut = 0
  let listDepth = 0
  let columns = 0
  let isInPre = false
  let isInTable = false

  const indent = (depth: number): string => '  '.repeat(depth)
  const mark = (sign: string): string => (isInPre ? '' : sign)
  /** What begins a paragraph: in a list a line of its item, in a table nothing. */
  const paragraph = (): string => (isInTable ? ' ' : listDepth > 0 ? `\n${indent(listDepth)}` : BLOCK)

  const opened: Record<string, (attribute: (name: string) => string) => string> = {
    h1: () => `${BLOCK}# `,
    h2: () => `${BLOCK}## `,
    h3: () => `${BLOCK}### `,
    h4: () => `${BLOCK}#### `,
    p: paragraph,
    summary: paragraph,
    div: () => (listDepth > 0 ? '' : BLOCK),
    section: () => BLOCK,
    b: () => mark('**'),
    code: () => mark('`'),
    pre: attribute => {
      isInPre = true
      return `${BLOCK}${FENCE}${attribute('data-language').replace('curl', 'sh')}\n`
    },
    a: attribute => {
      links.push(attribute('href'))
      return isOwnAnchor(links.at(-1)) ? '' : '['
    },
    ul: () => (listDepth++ === 0 ? BLOCK : ''),
    ol: () => (listDepth++ === 0 ? BLOCK : ''),
    li: () => `\n${indent(listDepth - 1)}- `,
    table: () => {
      isInTable = true
      return BLOCK
    },
    tr: () => {
      columns = 0
      return '\n|'
    },
    th: () => ' ',
    td: () => ' ',
  }
  const cell = (): string => {
    columns += 1
    return ' |'
  }
  const closed: Record<string, () => string> = {
    b: () => mark('**'),
    code: () => mark('`'),
    pre: () => {
      isInPre = false
      return `\n${FENCE}${BLOCK}`
    },
    a: () => {
      const href = links.pop() ?? ''
      return isOwnAnchor(href) ? '' : `](${markdownAddress(href)})`
    },
    ul: () => (--listDepth === 0 ? BLOCK : ''),
    ol: () => (--listDepth === 0 ? BLOCK : ''),
    th: cell,
    td: cell,
    thead: () => `\n|${' --- |'.repeat(columns)}`,
    table: () => {
      isInTable = false
      return BLOCK
    },
  }
  for (const [token, slash, tag, attributes = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>|[^<]+/g)) {
    if (tag !== undefined && LEFT_OUT.has(tag)) leftOut += slash === '' ? 1 : -1
    else if (leftOut > 0) continue
    else if (tag !== undefined)
      written.push(
        slash === ''
          ? (opened[tag]?.(name => new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1] ?? '') ?? '')
          : (closed[tag]?.() ?? ''),
      )
    else if (isInPre) written.push(unescapeHtml(token))
    // Between two tags that begin lines of their own.
    else if (token.trim() !== '' || !/[\s|]$/.test(written.at(-1) ?? ''))
      written.push(unescapeHtml(token).replaceAll(/\s+/g, ' '))
  }
  return `${written
    .join('')
    .replaceAll(/[^\S\n]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, BLOCK)
    .trim()}\n`
}

/** A heading links to itself. */
const isOwnAnchor = (href = ''): boolean => href.startsWith('#')

export const markdownAddress = (href: string): string =>
  href.startsWith(`${FRONT_PATH}/`) ? href.replace(/(#|$)/, '.md$1') : href
