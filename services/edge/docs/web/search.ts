// Searches the reference. In: its entries and what the reader typed. Out: the entries that fit, the best first. A word that is nowhere is
// taken for a typing error of the words that are most like it. Pure.
import type { EntryKind, SearchEntry } from '../search-entries.ts'

/** Between entries that fit equally well, the larger subject comes first. */
const KIND_POINTS: Record<EntryKind, number> = { operation: 12, guide: 8, error: 7, object: 2, member: -6 }

/** A page comes before its parts. */
const PAGE_POINTS = 2

/** Words of a question that say nothing about its subject. */
const FILLERS = new Set(['a', 'an', 'the', 'how', 'to', 'do', 'i', 'my', 'is', 'what', 'why', 'for', 'of', 'in', 'can'])

/** `ResendCooldownError`, `otp_id` and `/otp/send` are words to a reader. "Limits" is the same word as "limit". */
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}+]+/u)
    .filter(word => word !== '')
    .map(singular)

const singular = (word: string): string => word.replace(/(?<=..[^s])s$/, '')

interface Prepared {
  entry: SearchEntry
  title: string
  titleWords: string[]
  context: string
  contextWords: string[]
  nameWords: string[]
  text: string
  /** What it is called, word by word: its title, its other names, and of an operation its id. */
  calls: ReadonlySet<string>
}

export interface Found {
  entries: SearchEntry[]
  /** What was searched for in place of words that are nowhere; null where all are somewhere. */
  corrected: string | null
}

export type Search = (query: string, most: number) => Found

export function createSearch(entries: readonly SearchEntry[]): Search {
  const prepared = entries.map(prepare)
  const vocabulary = new Set(prepared.flatMap(({ titleWords, nameWords }) => [...titleWords, ...nameWords]))

  return (query, most) => {
    const whole = query.trim().toLowerCase()
    const typed = whole.split(/\s+/).filter(word => word !== '')
    const telling = typed.filter(word => !FILLERS.has(word))
    const words = telling.length === 0 ? typed : telling
    if (words.length === 0) return { entries: [], corrected: null }
    const isKnown = (word: string): boolean => prepared.some(one => pointsOf(one, word) > 0)
    const meant = words.map(word => (isKnown(word) ? [word] : alike(word, vocabulary)))
    const best = meant.map(([first = '']) => first)
    const call = inWords(best.join(' '))
    const found = prepared.flatMap(one => {
      const points = meant.map(options => Math.max(0, ...options.map(word => pointsOf(one, word))))
      if (points.includes(0)) return []
      const isWhole = one.calls.has(call) ? 60 : 0
      const { kind, context } = one.entry
      const rank = KIND_POINTS[kind] + (context === '' ? PAGE_POINTS : 0)
      return [{ entry: one.entry, points: sum(points) / words.length + isWhole + rank }]
    })
    return {
      entries: found
        .sort((a, b) => b.points - a.points)
        .slice(0, most)
        .map(({ entry }) => entry),
      corrected: best.join(' ') === words.join(' ') || best.includes('') ? null : best.join(' '),
    }
  }
}

const inWords = (text: string): string => wordsOf(text).join(' ')

const prepare = (entry: SearchEntry): Prepared => {
  const names = [entry.title, ...entry.keywords.split(','), entry.kind === 'operation' ? entry.anchor : '']
  return {
    entry,
    calls: new Set(names.map(inWords).filter(name => name !== '')),
    title: entry.title.toLowerCase(),
    titleWords: wordsOf(entry.title),
    context: entry.context.toLowerCase(),
    contextWords: wordsOf(entry.context),
    nameWords: wordsOf(entry.keywords),
    text: entry.text.toLowerCase(),
  }
}

/** Zero where the word is nowhere. */
function pointsOf(one: Prepared, typed: string): number {
  const { entry, title, titleWords, context, contextWords, nameWords, text } = one
  const word = singular(typed)
  if (titleWords.includes(word) || title === typed) return 60
  if (title.startsWith(word)) return 50
  if (nameWords.includes(word)) return 45
  if (titleWords.some(one => one.startsWith(word))) return 40
  if (nameWords.some(one => one.startsWith(word))) return 30
  if (title.includes(word)) return 25
  // The method and path of an operation name it as well as its title does.
  if (contextWords.includes(word)) return entry.kind === 'operation' ? 50 : 20
  if (context.includes(word)) return 12
  return text.includes(word) ? 6 : 0
}

/** The known words that need the fewest changes of letters: at most one, or two in a long word. */
function alike(typed: string, vocabulary: ReadonlySet<string>): string[] {
  const word = singular(typed)
  const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2
  const near = [...vocabulary].flatMap(one => {
    const changes = changesBetween(word, one)
    return changes <= most && one.length > 3 ? [{ one, changes }] : []
  })
  const fewest = Math.min(...near.map(({ changes }) => changes))
  return near.filter(({ changes }) => changes === fewest).map(({ one }) => one)
}

/** Letters that are missing, too many, wrong, or swapped with the next one. */
function changesBetween(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let row = 1; row <= one.length; row += 1) {
    rows[row] = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return at(one.length, other.length)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
