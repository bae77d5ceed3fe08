// Joins texts to bytes, each with its length in front, so that different lists give different bytes ("ab","c" and "a","bc").
import { Buffer } from 'node:buffer'

const LENGTH_BYTES = 4

export function encodeLengthPrefixed(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((size, text) => size + LENGTH_BYTES + Buffer.byteLength(text), 0))
  let at = 0
  for (const text of texts) {
    const length = bytes.write(text, at + LENGTH_BYTES)
    bytes.writeUInt32BE(length, at)
    at += LENGTH_BYTES + length
  }
  return bytes
}
