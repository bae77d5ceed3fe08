// Reads from the API into a component. In: a key that says what is read, and the call. Out: the data, or the problem. Old data stays on
// the screen while it is read again, so that nothing jumps; when the key changes, old data goes.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type CallOptions, POLL_HEADERS } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { usePolling } from './use-polling.ts'

export interface Query<T> {
  /** Undefined until the first answer. */
  data: T | undefined
  problem: Problem | null
  /** Whether a call is under way. */
  loading: boolean
  /** Reads again. */
  reload(): Promise<void>
  /** Reads again because the page does so by itself, not because its viewer asks for it. */
  poll(): Promise<void>
  /** Shows what a change answered, without reading again; a function is given the data as they are now, once there are any. */
  replace(data: T | ((now: T) => T)): void
}

export interface QueryOptions {
  /** Reads again so often, while the page is visible. */
  everyMs?: number
}

interface State<T> {
  key: string | null
  data: T | undefined
  problem: Problem | null
  loading: boolean
}

/** Null for `key`: nothing is read yet. */
export function useQuery<T>(
  key: string | null,
  load: (call: CallOptions) => Promise<T>,
  { everyMs }: QueryOptions = {},
): Query<T> {
  const [state, setState] = useState<State<T>>({ key, data: undefined, problem: null, loading: key !== null })
  const latestLoad = useRef(load)
  latestLoad.current = load
  const hasData = useRef(false)
  hasData.current = state.key === key && state.data !== undefined
  const call = useRef<AbortController | null>(null)
  // A change that was begun under an older key may end under this one: its `reload` and `replace` then do nothing.
  const currentKey = useRef(key)
  currentKey.current = key

  const read = useCallback(
    async (headers: CallOptions['headers']): Promise<void> => {
      if (key === null || key !== currentKey.current) return
      call.current?.abort()
      const own = new AbortController()
      call.current = own
      setState(old =>
        old.key === key ? { ...old, loading: true } : { key, data: undefined, problem: null, loading: true },
      )
      try {
        const data = await latestLoad.current({ signal: own.signal, headers })
        if (!own.signal.aborted) setState({ key, data, problem: null, loading: false })
      } catch (thrown) {
        if (own.signal.aborted) return
        setState(old => ({ key, data: old.data, problem: Problem.from(thrown), loading: false }))
      }
    },
    [key],
  )
  const reload = useCallback(() => read({}), [read])
  const poll = useCallback(() => read(POLL_HEADERS), [read])

  const replace = useCallback(
    (data: T | ((now: T) => T)) => {
      if (key !== currentKey.current) return
      // The read under way may be from before the change. The first one goes on: without it there is nothing to change.
      if (!isUpdater(data) || hasData.current) call.current?.abort()
      setState(old => {
        if (!isUpdater(data)) return { key, data, problem: null, loading: false }
        if (old.key !== key || old.data === undefined) return old
        return { key, data: data(old.data), problem: null, loading: false }
      })
    },
    [key],
  )

  useEffect(() => {
    void reload()
    return () => call.current?.abort()
  }, [reload])

  usePolling(poll, key === null ? null : (everyMs ?? null))

  // A new key shows nothing of the old one, also before the effect runs.
  const current = state.key === key ? state : { data: undefined, problem: null, loading: key !== null }
  return { data: current.data, problem: current.problem, loading: current.loading, reload, poll, replace }
}

const isUpdater = <T>(data: T | ((now: T) => T)): data is (now: T) => T => typeof data === 'function'
