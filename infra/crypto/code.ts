// The one-time code. In: ids and the salt of a verification, and a code secret. Out: the digits. The code is derived where it is needed and
// stored nowhere: an attacker with only the database, or only the secret, cannot compute it. Each generation of a verification has its
// own code.
//
// That a code is 4 to 10 digits is also assumed in machines/settings.ts (its length), services/domain/texts/languages.ts (the
// length of an SMS), services/domain/texts/code-in-message.ts, infra/log/scrub.ts and infra/log/redact.ts (codes in log lines).
import type { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { encodeLengthPrefixed } from './length-prefix.ts'

export interface CodeInputs {
  otpId: string
  generation: number
  /** Random for each verification, sealed at rest. */
  salt: string
  /** Digits: 4 to 10. */
  length: number
}

export function deriveCode({ otpId, generation, salt, length }: CodeInputs, secret: Buffer): string {
  const hmacInputs = ['code', otpId, String(generation), salt]
  const block = (counter: number): Buffer =>
    createHmac('sha256', secret)
      .update(encodeLengthPrefixed(counter === 0 ? hmacInputs : [...hmacInputs, String(counter)]))
      .digest()
  return digitsFrom(block, length)
}

/** Four bytes have too few values for ten digits. */
const wordBytes = (length: number): number => (length > 9 ? 6 : 4)

/** Every code is equally likely. A word past the last whole multiple of 10^length would favour low codes, so it is skipped.
 *  `block` answers 32 pseudorandom bytes for each counter. */
export function digitsFrom(block: (counter: number) => Buffer, length: number): string {
  if (!Number.isInteger(length) || length < 4 || length > 10) throw new RangeError('a code has 4 to 10 digits')
  const codes = 10 ** length
  const size = wordBytes(length)
  const range = 2 ** (8 * size)
  const unbiasedRange = range - (range % codes)
  for (let counter = 0; ; counter++) {
    const bytes = block(counter)
    for (let at = 0; at + size <= bytes.length; at += size) {
      const word = bytes.readUIntBE(at, size)
      if (word < unbiasedRange) return String(word % codes).padStart(length, '0')
    }
  }
}
