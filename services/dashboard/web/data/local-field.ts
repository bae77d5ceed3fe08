// Times in a field of type datetime-local, which has no zone: it means the viewer's own. In: a time of the API, in UTC.
// Out: the value of the field, to the minute; and back. Pure.

/** `2030-01-31T12:00`; empty where there is no time. */
export function toLocalField(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  const two = (number: number): string => String(number).padStart(2, '0')
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
}

/** Empty where the field is empty or half filled, and for a text in an address that is not a time. */
export function fromLocalField(text: string): string {
  const at = Date.parse(text)
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}

/** The time that a field means. The field has no seconds: a time of a shared link that was not touched keeps its own. */
export const timeIn = (field: string, shared: string): string =>
  field === toLocalField(shared) ? shared : fromLocalField(field)
