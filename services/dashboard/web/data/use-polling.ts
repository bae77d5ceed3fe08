// Reads again and again while the page is visible. In: what reads, and how often. The next reading begins when the one before has ended, so
// a slow server is never asked twice at once.
import { useEffect } from 'preact/hooks'

/** Null for `everyMs`: there is nothing to wait for. */
export function usePolling(poll: () => Promise<void>, everyMs: number | null): void {
  useEffect(() => {
    if (everyMs === null) return
    let timer: ReturnType<typeof setTimeout>
    let ended = false
    const readThenWait = async () => {
      if (document.visibilityState === 'visible') await poll()
      if (!ended) timer = setTimeout(readThenWait, everyMs)
    }
    timer = setTimeout(readThenWait, everyMs)
    return () => {
      ended = true
      clearTimeout(timer)
    }
  }, [poll, everyMs])
}
