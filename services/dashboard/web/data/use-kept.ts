// The latest data that a query had. In: the data of a query, undefined while another key is read for the first time. Out: the data before
// it until then, so that a screen does not go blank when the viewer chooses another period. The data itself must say what it is of.
import { useRef } from 'preact/hooks'

export function useKept<T>(data: T | undefined): T | undefined {
  const kept = useRef<T | undefined>(undefined)
  if (data !== undefined) kept.current = data
  return kept.current
}
