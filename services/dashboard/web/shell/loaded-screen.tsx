// A screen whose file is loaded when it is first opened. In: the import. Out: the screen, or why it cannot be shown. A new version of
// Countersign replaces the files that an open page knows: then the page is loaded again, once.
import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import { Problem } from '../api/problem.ts'
import { readInTab, storeInTab } from '../data/browser-storage.ts'
import { ProblemNotice } from '../ui/notice.tsx'

/** Set while the page is loaded again for a file that is missing. */
const MARK = 'loaded again'

export const loadedScreen = (load: () => Promise<{ default: ComponentType }>): ComponentType =>
  lazy(async () => {
    try {
      const screen = await load()
      storeInTab(MARK, null)
      return screen
    } catch {
      if (mayLoadAgain()) {
        location.reload()
        // Nothing is shown until the new page is there.
        return new Promise<never>(() => {})
      }
      return { default: NotLoaded }
    }
  })

/** Without storage the mark is not kept, and the page could be loaded again for ever. */
function mayLoadAgain(): boolean {
  if (readInTab(MARK) !== null) return false
  storeInTab(MARK, 'yes')
  return readInTab(MARK) !== null
}

const NotLoaded = () => (
  <ProblemNotice
    problem={new Problem(0, { detail: 'This screen could not be loaded. Check your connection, then try again.' })}
    onRetry={() => location.reload()}
  />
)
