// Shows the target of a link: opens what is folded around it, and leads to its page where it is on another one. The reference was one page
// once: links to `/docs#errors` are still around.
import { loadSearchEntries } from './search-index.ts'

const targetOf = (hash: string): HTMLElement | null => document.getElementById(decodeURIComponent(hash.slice(1)))

/** Where the anchor is now. A member of an answer is not in the index; its operation is. */
async function addressOf(anchor: string): Promise<string | null> {
  const entries = await loadSearchEntries()
  const [first] = anchor.split('.')
  const found = entries.find(entry => entry.anchor === anchor) ?? entries.find(entry => entry.anchor === first)
  return found === undefined || found.address === location.pathname ? null : `${found.address}#${anchor}`
}

function show(target: HTMLElement): void {
  for (let at = target.closest('details'); at !== null; at = at.parentElement?.closest('details') ?? null)
    at.open = true
  target.scrollIntoView()
  // The reader goes on from there, also by keyboard.
  target.tabIndex = -1
  target.focus({ preventScroll: true })
}

export async function followHash(): Promise<void> {
  if (location.hash.length < 2) return
  const target = targetOf(location.hash)
  if (target !== null) return show(target)
  const address = await addressOf(decodeURIComponent(location.hash.slice(1))).catch(() => null)
  if (address !== null) location.replace(address)
}

export function followAnchors(): void {
  addEventListener('hashchange', () => void followHash())
  void followHash()
}
