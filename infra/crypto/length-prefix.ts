// Joins texts to bytes, each with its length in front, so that different lists give different bytes ("ab","c" and "a","bc").
import { Buffer } from 'node:buffer'

export function encodeLengthPrefixed(texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap(part => {
      const bytes = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}
