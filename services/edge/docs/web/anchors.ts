// Shows the target of a link: opens what is folded around it, and leads to its page where it is on another one. The reference was one page
// once: links to `/docs#errors` are still around.
import { loadSearchEntries } from './search-index.ts'

/** As it is written where it cannot be decoded. */
function anchorIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return hash.slice(1)
  }
}

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
  const anchor = anchorIn(location.hash)
  if (anchor === '') return
  const target = document.getElementById(anchor)
  if (target !== null) return show(target)
  const address = await addressOf(anchor).catch(() => null)
  if (address !== null) location.replace(address)
}

export function followAnchors(): void {
  addEventListener('hashchange', () => void followHash())
  void followHash()
}
