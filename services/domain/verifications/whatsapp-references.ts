// In: a user's WhatsApp message. Out: every text in it that could be a reference. Users edit the pre-filled text, so a reference is found
// in either case and next to any characters. A candidate that is not a reference matches no verification.

/** The alphabet and length of references in services/otp/messages/links.ts. The lookahead finds overlapping candidates, because a user may type
 *  letters directly before the reference. */
const REFERENCE_ANYWHERE = /(?=([2-9A-HJ-NP-Z]{16}))/gi
/** A candidate without letters or digits next to it, as in the pre-filled text. */
const REFERENCE_ALONE = /(?<![0-9A-Z])([2-9A-HJ-NP-Z]{16})(?![0-9A-Z])/gi

/** Each candidate costs a lookup, and a real user's text has few. */
const MAX_REFERENCES = 32

/** Candidates that stand alone come first, so that a long word before the reference cannot use up MAX_REFERENCES. */
export function referencesIn(text: string): string[] {
  const found = new Set<string>()
  for (const pattern of [REFERENCE_ALONE, REFERENCE_ANYWHERE])
    for (const [, reference = ''] of text.matchAll(pattern)) {
      if (found.size === MAX_REFERENCES) break
      found.add(reference.toUpperCase())
    }
  return [...found]
}
