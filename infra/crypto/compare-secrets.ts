// Compares two secrets in constant time: the time tells neither where they differ nor how long they are.
import { createHash, timingSafeEqual } from 'node:crypto'

export const isSameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

// UTF-16, because UTF-8 encodes every broken character alike, and different texts would be equal.
const digest = (text: string) => createHash('sha256').update(text, 'utf16le').digest()
