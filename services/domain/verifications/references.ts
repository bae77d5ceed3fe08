// In: what a user wrote on WhatsApp. Out: every reference that could be in it. People edit the pre-filled text, so a reference is found
// whatever surrounds it and however it is cased; what is none finds no verification.

/** As services/otp/links.ts makes them. The lookahead finds overlapping ones: letters may stand right before a reference. */
const REFERENCE_ANYWHERE = /(?=([2-9A-HJ-NP-Z]{16}))/gi
/** One with nothing of its kind around it, as in the pre-filled text. */
const REFERENCE_ALONE = /(?<![0-9A-Z])([2-9A-HJ-NP-Z]{16})(?![0-9A-Z])/gi

/** Each is looked up. A text with more is no user's. */
const MAX_REFERENCES = 32

/** Those that stand alone come first: a long word before the reference must not use up the places. */
export function referencesIn(text: string): string[] {
  const found = new Set<string>()
  for (const pattern of [REFERENCE_ALONE, REFERENCE_ANYWHERE])
    for (const [, reference = ''] of text.matchAll(pattern)) {
      if (found.size === MAX_REFERENCES) break
      found.add(reference.toUpperCase())
    }
  return [...found]
}
