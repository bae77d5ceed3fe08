// Values and words of the API as people write them. Pure.

/** In: a value of JSON; undefined where there is none. */
export function valueWords(value: unknown): string {
  if (value === undefined) return '—'
  if (value === null) return 'none'
  if (typeof value === 'string') return value === '' ? '""' : value
  if (Array.isArray(value) && value.every(member => typeof member !== 'object' || member === null))
    return value.length === 0 ? 'empty list' : value.map(valueWords).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The server's words follow the name of a member; where they stand alone, they are a sentence. */
export const asSentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`
