// Compares two secrets in a time that tells nothing of either: not where they differ, not how long the other is.
import { createHash, timingSafeEqual } from 'node:crypto'

export const isSameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

// UTF-16, because UTF-8 has one replacement for every broken character and would call different texts equal.
const digest = (text: string) => createHash('sha256').update(text, 'utf16le').digest()
