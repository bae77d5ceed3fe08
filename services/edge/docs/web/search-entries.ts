// In: the page. Out: an entry for each of its headings, operations, members, errors and rows that have an anchor. The page itself is the
// index, so nothing is loaded for it.
import type { EntryKind, SearchEntry } from './search.ts'

const textOf = (element: Element | null | undefined): string =>
  element?.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''

const headingOf = (section: Element | null | undefined): Element | null =>
  section?.querySelector(':scope > :is(h2, h3, h4)') ?? null

export function searchEntries(): SearchEntry[] {
  const main = document.querySelector('main')
  return [...(main?.querySelectorAll('h2[id], h3[id], h4[id]') ?? [])]
    .map(headingEntry)
    .concat([...(main?.querySelectorAll('tr[id]') ?? [])].map(rowEntry))
    .concat([...(main?.querySelectorAll('.members > li[id]') ?? [])].map(memberEntry))
}

function headingEntry(heading: Element): SearchEntry {
  const section = heading.parentElement
  const isOperation = section?.classList.contains('operation') ?? false
  const kind: EntryKind = isOperation ? 'operation' : section?.classList.contains('object') ? 'object' : 'guide'
  const above = headingOf(section?.parentElement?.closest('section'))
  const route = isOperation ? section?.querySelector('.route') : null
  return {
    kind,
    title: textOf(heading),
    context: route ? textOf(route) : textOf(above ?? headingOf(heading.closest('section'))),
    text: textOf(isOperation ? section?.querySelector('.route + p') : heading.nextElementSibling).slice(0, 400),
    anchor: heading.id,
  }
}

function rowEntry(row: Element): SearchEntry {
  const [name, ...rest] = row.children
  return {
    kind: row.id.startsWith('error-') ? 'error' : 'guide',
    title: textOf(name),
    context: textOf(headingOf(row.closest('section'))),
    text: rest.map(textOf).join(' '),
    anchor: row.id,
  }
}

function memberEntry(item: Element): SearchEntry {
  return {
    kind: 'member',
    title: textOf(item.querySelector('code')),
    context: textOf(headingOf(item.closest('section'))),
    text: textOf(item.querySelector(':scope > p')),
    anchor: item.id,
  }
}
