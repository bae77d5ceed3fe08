// Reads a whole list while a dialog is open, page by page, so that its beginning can be used at once. In: how to read a page; null: nothing
// is read. Out: what has come so far.
import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../api/problem.ts'
import { allPages } from '../data/all-pages.ts'
import type { ReadPage } from '../data/use-pages.ts'

/** The rest of a longer list is found by other means: 200 calls are enough for one dialog. */
const MAX_PAGES = 200

export function useAllPages<T>(readPage: ReadPage<T> | null) {
  const [items, setItems] = useState<T[]>([])
  const [isComplete, setIsComplete] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    let isClosed = false
    async function readAll(read: ReadPage<T>): Promise<void> {
      let pages = 0
      for await (const page of allPages(read)) {
        if (isClosed) return
        setItems(old => [...old, ...page])
        pages += 1
        if (pages === MAX_PAGES) break
      }
      setIsComplete(true)
    }
    if (readPage !== null) readAll(readPage).catch(thrown => setProblem(Problem.from(thrown)))
    return () => {
      isClosed = true
    }
  }, [])
  return { items, isComplete, problem }
}
