// The entries of the search, loaded once, when they are first needed.
import type { SearchEntry } from '../search-entries.ts'

let loading: Promise<SearchEntry[]> | undefined

export function loadSearchEntries(): Promise<SearchEntry[]> {
  loading ??= fetch('/docs/search.json').then(response => {
    if (!response.ok) throw new Error(`the index of the search: ${response.status}`)
    return response.json()
  })
  // A load that failed is tried again by the next one who asks.
  loading.catch(() => {
    loading = undefined
  })
  return loading
}
