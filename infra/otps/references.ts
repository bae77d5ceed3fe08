// In: what a user wrote on WhatsApp. Out: every reference that could be in it. People edit the pre-filled text, so a reference is found
// whatever surrounds it and however it is cased; what is none finds no verification.

/** As services/otp/links.ts makes them. The lookahead finds overlapping ones: letters may stand right before a reference. */
const REFERENCE = /(?=([2-9A-HJ-NP-Z]{16}))/gi

/** Each is looked up. A text with more is no user's. */
const MOST = 32

export function referencesIn(text: string): string[] {
  const found = new Set<string>()
  for (const [, reference = ''] of text.matchAll(REFERENCE)) {
    found.add(reference.toUpperCase())
    if (found.size === MOST) break
  }
  return [...found]
}
