// Reads a whole list while a dialog is open, page by page, so that its beginning can be used at once. In: how to read a page; null: nothing
// is read. Out: what has come so far.
import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../api/problem.ts'

export type ReadPage<T> = (query: {
  limit: number
  cursor?: string
}) => Promise<{ items: T[]; next_cursor: string | null }>

const PAGE_SIZE = 100
/** Of a longer list, the rest is found by other means: 200 calls are enough for one dialog. */
const MAX_PAGES = 200

export function useAllPages<T>(readPage: ReadPage<T> | null) {
  const [items, setItems] = useState<T[]>([])
  const [isComplete, setIsComplete] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    let isClosed = false
    async function readAll(read: ReadPage<T>): Promise<void> {
      let cursor: string | null = null
      for (let page = 0; page < MAX_PAGES && !isClosed; page += 1) {
        const answer = await read({ limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) })
        if (isClosed) return
        setItems(old => [...old, ...answer.items])
        cursor = answer.next_cursor
        if (cursor === null) break
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
