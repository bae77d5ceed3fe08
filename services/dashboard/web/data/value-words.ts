// A value of JSON as people write it; undefined where there is none. Pure.
export function valueWords(value: unknown): string {
  if (value === undefined) return '—'
  if (value === null) return 'none'
  if (typeof value === 'string') return value === '' ? '""' : value
  if (Array.isArray(value) && value.every(member => typeof member !== 'object' || member === null))
    return value.length === 0 ? 'empty list' : value.map(valueWords).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
