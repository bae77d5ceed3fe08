// In: the HTML of a page of the reference. Out: what its search finds on it: headings, operations, objects, members, errors, rows. Only
// what has an anchor is found. The script of the pages loads the list when a reader opens the search.

export type EntryKind = 'operation' | 'guide' | 'error' | 'object' | 'member'

export interface SearchEntry {
  kind: EntryKind
  title: string
  /** Where it is: the page or the section around it, or the method and path of an operation. */
  context: string
  /** What is said about it. */
  text: string
  /** Other names of it, with commas between them. */
  keywords: string
  /** The address of its page. */
  address: string
  anchor: string
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&([\w#]+);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** A result shows one line of it. */
const MOST_TEXT = 160

/** A heading with the paragraphs after it, a row of a table, a member of an object. */
const PLACES =
  /<h[12] id="(?<heading>[^"]+)"(?: data-keywords="(?<words>[^"]*)")?>(?<title>.*?)<\/h[12]>|<tr id="(?<row>[^"]+)"(?: data-keywords="(?<rowWords>[^"]*)")?><th[^>]*>(?<name>.*?)<\/th>(?<cells>.*?)<\/tr>|<li id="(?<member>[^"]+)"><div class="member"><code>(?<memberName>[^<]*)<\/code>.*?<\/div>(?:<p>(?<about>.*?)<\/p>)?/gs

/** Objects have the members of answers as well, each once. */
const IS_OF_ANSWER = /^\w+\.\d{3}\./

export function searchEntries(page: string, pageName: string, address: string): SearchEntry[] {
  const entries: SearchEntry[] = []
  let section = pageName
  for (const { groups = {}, index, 0: found } of page.matchAll(PLACES)) {
    const add = (entry: Omit<SearchEntry, 'address'>): void => void entries.push({ ...entry, address })
    const { heading, words = '', title = '', row, rowWords = '', name = '', cells = '', member } = groups
    if (heading !== undefined) {
      const before = page.slice(0, index)
      const after = page.slice(index + found.length)
      const [, request] = /^\s*<div class="row"><div class="text">\s*<p class="request">(.*?)<\/p>/s.exec(after) ?? []
      const [, text = ''] = /<p>(.*?)<\/p>/s.exec(after) ?? []
      const isObject = before.endsWith('<details class="object"><summary>')
      section = textOf(title)
      add({
        kind: request === undefined ? (isObject ? 'object' : 'guide') : 'operation',
        title: section,
        context: request === undefined ? (section === pageName ? '' : pageName) : textOf(request),
        text: textOf(text).slice(0, MOST_TEXT),
        keywords: textOf(words),
        anchor: heading,
      })
    } else if (row !== undefined)
      add({
        kind: row.startsWith('error-') ? 'error' : 'guide',
        title: textOf(name),
        context: section,
        text: textOf(cells).slice(0, MOST_TEXT),
        keywords: textOf(rowWords),
        anchor: row,
      })
    else if (member !== undefined && !IS_OF_ANSWER.test(member))
      add({
        kind: 'member',
        title: textOf(groups.memberName ?? ''),
        context: section,
        text: textOf(groups.about ?? '').slice(0, MOST_TEXT),
        keywords: '',
        anchor: member,
      })
  }
  return entries
}
