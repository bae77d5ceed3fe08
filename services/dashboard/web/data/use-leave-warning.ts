// Stops the viewer from leaving a screen by accident. In: whether something would be lost. Out: the address that the viewer wanted, while
// it is not decided yet. Closing the tab is asked about by the browser itself.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'

export interface LeaveWarning {
  /** Null unless the viewer is about to leave. */
  wanted: string | null
  leave(): void
  stay(): void
}

export function useLeaveWarning(active: boolean): LeaveWarning {
  const { route } = useLocation()
  const [wanted, setWanted] = useState<string | null>(null)
  const here = useRef(location.href)

  useEffect(() => {
    if (!active) return
    here.current = location.href
    const isElsewhere = (url: URL): boolean =>
      url.origin === location.origin && url.pathname !== new URL(here.current).pathname

    // In the capture phase, before the router hears of it.
    function onClick(event: MouseEvent): void {
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey
      const link = event.target instanceof Element ? event.target.closest('a') : null
      if (!link?.href || link.target || link.download || hasModifier || event.button !== 0) return
      const url = new URL(link.href)
      if (!isElsewhere(url)) return
      event.preventDefault()
      event.stopImmediatePropagation()
      setWanted(url.pathname + url.search)
    }
    // Not popstate: the router has heard of that before. A browser without this event leaves, and the draft is there on the way back.
    function onBack(event: NavigateEvent): void {
      const url = new URL(event.destination.url)
      if (event.navigationType !== 'traverse' || !event.cancelable || !isElsewhere(url)) return
      event.preventDefault()
      setWanted(url.pathname + url.search)
    }
    const onUnload = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('click', onClick, true)
    window.navigation?.addEventListener('navigate', onBack)
    window.addEventListener('beforeunload', onUnload)
    return () => {
      window.removeEventListener('click', onClick, true)
      window.navigation?.removeEventListener('navigate', onBack)
      window.removeEventListener('beforeunload', onUnload)
    }
  }, [active])

  return {
    wanted,
    leave() {
      if (wanted !== null) route(wanted)
      setWanted(null)
    },
    stay: () => setWanted(null),
  }
}
