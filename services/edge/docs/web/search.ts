// Searches the reference. In: its entries and what the reader typed. Out: the entries that fit, the best first. Pure.

export type EntryKind = 'operation' | 'guide' | 'error' | 'object' | 'member'

export interface SearchEntry {
  kind: EntryKind
  title: string
  /** Where it is: the section around it, or the route of an operation. */
  context: string
  /** What is said about it. */
  text: string
  /** Of its place in the page, without the `#`. */
  anchor: string
}

/** Between entries that fit equally well, the larger subject comes first. */
const KIND_POINTS: Record<EntryKind, number> = { operation: 12, guide: 8, error: 7, object: 2, member: 0 }

/** `ResendCooldownError`, `otp_id` and `/otp/send` are words to a reader. */
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}+]+/u)
    .filter(word => word !== '')

interface Prepared {
  entry: SearchEntry
  title: string
  titleWords: string[]
  context: string
  contextWords: string[]
  text: string
}

export type Search = (query: string, most: number) => SearchEntry[]

export function createSearch(entries: readonly SearchEntry[]): Search {
  const prepared = entries.map(prepare)
  return (query, most) => {
    const whole = query.trim().toLowerCase()
    const words = whole.split(/\s+/).filter(word => word !== '')
    if (words.length === 0) return []
    const found = prepared.flatMap(one => {
      const points = words.map(word => pointsOf(one, word))
      if (points.includes(0)) return []
      const isWhole = one.title === whole ? 60 : 0
      return [{ entry: one.entry, points: sum(points) / words.length + isWhole + KIND_POINTS[one.entry.kind] }]
    })
    return found
      .sort((a, b) => b.points - a.points || a.entry.title.length - b.entry.title.length)
      .slice(0, most)
      .map(({ entry }) => entry)
  }
}

const prepare = (entry: SearchEntry): Prepared => ({
  entry,
  title: entry.title.toLowerCase(),
  titleWords: wordsOf(entry.title),
  context: entry.context.toLowerCase(),
  contextWords: wordsOf(entry.context),
  text: entry.text.toLowerCase(),
})

/** Zero where the word is nowhere. */
function pointsOf({ entry, title, titleWords, context, contextWords, text }: Prepared, word: string): number {
  if (titleWords.includes(word) || title === word) return 60
  if (title.startsWith(word)) return 50
  if (titleWords.some(one => one.startsWith(word))) return 40
  if (title.includes(word)) return 25
  // The route of an operation names it as well as its title does.
  if (contextWords.includes(word)) return entry.kind === 'operation' ? 50 : 20
  if (context.includes(word)) return 12
  return text.includes(word) ? 6 : 0
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
