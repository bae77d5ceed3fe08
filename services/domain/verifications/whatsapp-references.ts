// References of wa.me links. A new one stands at the end of the pre-filled text. In: a user's WhatsApp message. Out:
// every text in it that could be a reference. Users edit the pre-filled text, so a reference is found in either case
// and next to any characters. A candidate that is not a reference matches no verification.
import { randomBytes } from 'node:crypto'

/** 32 characters, without those that are easily confused. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** 16 characters of 5 bits are 80 bits, too many to guess within the lifetime of a code. */
const REFERENCE_CHARS = 16

export const newReference = (): string =>
  Array.from(randomBytes(REFERENCE_CHARS), byte => ALPHABET[byte % ALPHABET.length]).join('')

const REFERENCE = `[${ALPHABET}]{${REFERENCE_CHARS}}`
/** The lookahead finds overlapping candidates, because a user may type letters directly before the reference. */
const REFERENCE_ANYWHERE = new RegExp(`(?=(${REFERENCE}))`, 'gi')
/** A candidate without letters or digits next to it, as in the pre-filled text. */
const REFERENCE_ALONE = new RegExp(`(?<![0-9A-Z])(${REFERENCE})(?![0-9A-Z])`, 'gi')

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
