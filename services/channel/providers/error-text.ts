// Finds the sentence in a vendor's error. In: a body as it was parsed. Out: its text for people, or null. The text is the vendor's own and
// may repeat the recipient or the code: vendor-scrub.ts hides both before it is stored.

/** The members that hold such a text at the vendors we know and at most gateways, best first. */
const TEXT_MEMBERS = [
  'title',
  'message',
  'Message',
  'detail',
  'details',
  'description',
  'error_message',
  'error',
  'errors',
  'error_data',
]
const MAX_DEPTH = 3

export function errorTextIn(json: unknown): string | null {
  const texts = [...new Set(textsIn(json, 0))]
  return texts.length === 0 ? null : texts.join('. ')
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  if (Array.isArray(value)) return depth < MAX_DEPTH ? textsIn(value[0], depth + 1) : []
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return []
  const members = value as Record<string, unknown>
  return TEXT_MEMBERS.flatMap(name => textsIn(members[name], depth + 1))
}
