// Opens what is folded around the target of a link, so that the reader sees it.

export function openAround(target: Element): void {
  for (let at = target.closest('details'); at !== null; at = at.parentElement?.closest('details') ?? null)
    at.open = true
}

export const targetOf = (hash: string): HTMLElement | null => document.getElementById(decodeURIComponent(hash.slice(1)))

export function followAnchors(): void {
  const show = (): void => {
    const target = targetOf(location.hash)
    if (target === null) return
    openAround(target)
    target.scrollIntoView()
  }
  addEventListener('hashchange', show)
  show()
}
