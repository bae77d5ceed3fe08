// How old the shown data is, counted up every second. It is not announced: it would interrupt a reader all the time.
import { useEffect, useState } from 'preact/hooks'
import { formatSeconds } from './figure-format.ts'

const TICK_MS = 1_000
/** Younger data is called fresh, so that the words do not change with every reload. */
const FRESH_SECONDS = 5

/** `at`: when the data was read. */
export function Updated({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, (now - at) / 1_000)
  return (
    <p class="updated soft">{seconds < FRESH_SECONDS ? 'Updated just now' : `Updated ${formatSeconds(seconds)} ago`}</p>
  )
}
