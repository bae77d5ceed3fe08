// The search: a dialog with a field and its results as links. It opens by its button, by `/` and by Ctrl-K.
import { openAround, targetOf } from './anchors.ts'
import { createSearch, type EntryKind, type Search, type SearchEntry } from './search.ts'
import { searchEntries } from './search-entries.ts'

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
    search ??= createSearch(searchEntries())
    if (!dialog.open) dialog.showModal()
    field.select()
  }

  function show(): void {
    const query = field?.value ?? ''
    const found = search?.(query, MOST_RESULTS) ?? []
    results?.replaceChildren(...found.map(resultItem))
    if (status === null) return
    if (query.trim() === '') status.textContent = ''
    else status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} results`
    if (found.length === 0 && query.trim() !== '') results?.append(emptyItem(query))
  }

  function go(link: HTMLAnchorElement): void {
    dialog.close()
    const target = targetOf(link.hash)
    if (target === null) return
    openAround(target)
    if (location.hash === link.hash) target.scrollIntoView()
    else location.hash = link.hash
    // The reader goes on from there, also by keyboard.
    target.tabIndex = -1
    target.focus({ preventScroll: true })
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

function resultItem({ kind, title, context, text, anchor }: SearchEntry): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `#${anchor}`
  link.append(part('result-kind', KIND_NAMES[kind]), part('result-title', title), part('result-context', context))
  if (text !== '') link.append(part('result-text', text))
  item.append(link)
  return item
}

function emptyItem(query: string): HTMLLIElement {
  const item = document.createElement('li')
  item.className = 'nothing'
  item.textContent = `Nothing has “${query.trim()}” in it. Try the name of a member, a path or an error.`
  return item
}

function part(name: string, text: string): HTMLSpanElement {
  const span = document.createElement('span')
  span.className = name
  span.textContent = text
  return span
}
