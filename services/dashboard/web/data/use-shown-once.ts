// A key or a secret that the server shows once. In: its name. Out: its value, until the viewer says that it is copied. It outlives its
// screen, so that the browser's Back does not lose it; and the browser asks before the tab is closed.
import { useState } from 'preact/hooks'
import { keepShownOnce, readShownOnce } from './browser-storage.ts'

export function useShownOnce(name: string): [value: string | null, keep: (value: string | null) => void] {
  const [, setChanges] = useState(0)
  const keep = (value: string | null): void => {
    keepShownOnce(name, value)
    setChanges(count => count + 1)
  }
  return [readShownOnce(name), keep]
}
