// Times in a field of type datetime-local, which has no zone: it means the viewer's own.

const twoDigits = (number: number): string => String(number).padStart(2, '0')

/** To the minute, as such a field wants it: 2030-01-31T12:00. */
export const toLocalField = (at: Date): string =>
  `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}T${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`

/** In UTC, as the API wants it; null when the field is empty or half filled. */
export function fromLocalField(value: string): string | null {
  const at = new Date(value)
  return value === '' || Number.isNaN(at.getTime()) ? null : at.toISOString()
}
