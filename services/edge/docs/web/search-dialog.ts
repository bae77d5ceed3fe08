// The search: a dialog with a field and its results as links. It opens by its button, by `/` and by Ctrl-K.
import type { EntryKind, SearchEntry } from '../search-entries.ts'
import { followHash } from './anchors.ts'
import { createSearch, type Search } from './search.ts'
import { loadSearchEntries } from './search-index.ts'

const MOST_RESULTS = 24

const KIND_NAMES: Record<EntryKind, string> = {
  operation: 'Call',
  guide: 'Guide',
  error: 'Error',
  object: 'Object',
  member: 'Member',
}

const DIALOG = `<form method="dialog">
<label class="unseen" for="search-field">Search the reference</label>
<input id="search-field" type="search" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Search calls, members, errors…">
<button class="button">Close</button>
</form>
<p class="unseen" role="status"></p>
<ul class="results"></ul>
<p class="search-keys" aria-hidden="true"><kbd>↑</kbd> <kbd>↓</kbd> to choose <kbd>Enter</kbd> to go <kbd>Esc</kbd> to close</p>`

export function addSearch(): void {
  const button = document.querySelector<HTMLButtonElement>('#open-search')
  if (button === null) return
  const dialog = document.createElement('dialog')
  dialog.className = 'search'
  dialog.setAttribute('aria-label', 'Search')
  dialog.innerHTML = DIALOG
  document.body.append(dialog)
  const field = dialog.querySelector('input')
  const results = dialog.querySelector('ul')
  const status = dialog.querySelector('[role="status"]')
  if (field === null || results === null || status === null) return
  let search: Search | undefined

  const open = (): void => {
    if (!dialog.open) dialog.showModal()
    field.select()
    void load()
  }

  async function load(): Promise<void> {
    if (search !== undefined) return
    try {
      search = createSearch(await loadSearchEntries())
      show()
    } catch {
      results?.replaceChildren(noteItem('The index of the search could not be loaded. Are you online?'))
    }
  }

  function show(): void {
    const query = field?.value.trim() ?? ''
    if (results === null || status === null || search === undefined) return
    const { entries, corrected } = search(query, MOST_RESULTS)
    results.replaceChildren(...entries.map(resultItem))
    status.textContent = query === '' ? '' : entries.length === 0 ? 'Nothing found' : `${entries.length} results`
    if (entries.length === 0 && query !== '')
      results.append(noteItem(`Nothing has “${query}” in it. Try the name of a member, a path or an error.`))
    else if (corrected !== null)
      results.prepend(noteItem(`Nothing has “${query}” in it. These are for “${corrected}”.`))
  }

  function go(link: HTMLAnchorElement): void {
    dialog.close()
    if (link.href === location.href) void followHash()
    else location.href = link.href
  }

  const links = (): HTMLAnchorElement[] => [...results.querySelectorAll('a')]

  field.addEventListener('input', show)
  dialog.addEventListener('submit', event => {
    const [best] = links()
    // Enter in the field goes to the best result.
    if (document.activeElement !== field || best === undefined) return
    event.preventDefault()
    go(best)
  })
  dialog.addEventListener('keydown', event => {
    // Chromium would only empty the field.
    if (event.key === 'Escape') {
      event.preventDefault()
      dialog.close()
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    const places: HTMLElement[] = [field, ...links()]
    const at = places.indexOf(document.activeElement as HTMLElement)
    const step = event.key === 'ArrowDown' ? 1 : -1
    places[(at + step + places.length) % places.length]?.focus()
  })
  dialog.addEventListener('click', event => {
    if (event.target === dialog) dialog.close()
    const link = (event.target as Element).closest('a')
    if (link === null) return
    event.preventDefault()
    go(link)
  })
  addEventListener('keydown', event => {
    const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey)
    if (!isShortcut && (event.key !== '/' || isTyping(event.target))) return
    event.preventDefault()
    open()
  })
  button.hidden = false
  button.addEventListener('click', open)
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null

function resultItem({ kind, title, context, text, address, anchor }: SearchEntry): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `${address}#${anchor}`
  link.append(part('result-kind', KIND_NAMES[kind]), part('result-title', title), part('result-context', context))
  if (text !== '') link.append(part('result-text', text))
  item.append(link)
  return item
}

function noteItem(text: string): HTMLLIElement {
  const item = document.createElement('li')
  item.className = 'nothing'
  item.textContent = text
  return item
}

function part(name: string, text: string): HTMLSpanElement {
  const span = document.createElement('span')
  span.className = name
  span.textContent = text
  return span
}
