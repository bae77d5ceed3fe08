// In: a code as a person typed or pasted it. Out: its digits as the code has them. Keyboards of other scripts write their own digits, and
// messages and copies put spaces and hyphens between them: such a spelling of the right code must not cost an attempt.
import { z } from 'zod'

/** Invisible marks, such as those of writing from right to left, come along when a code is copied. */
const WHITE_SPACE_AND_HYPHENS = /[\s\p{White_Space}\p{Dash}\p{Format}]/gu
const DIGIT_OF_ANOTHER_SCRIPT = /(?![0-9])\p{Nd}/gu
const DECIMAL_DIGIT = /^\p{Nd}$/u

/** Far longer than any code with what stands between its digits. A longer text is cut: it would keep the process busy,
 *  and cannot be right. */
const MAX_LENGTH = 200

export const normalizeCode = (text: string): string =>
  text.slice(0, MAX_LENGTH).replaceAll(WHITE_SPACE_AND_HYPHENS, '').replaceAll(DIGIT_OF_ANOTHER_SCRIPT, toAsciiDigit)

/** Unicode keeps the ten digits of a script next to each other, from zero to nine, and puts some scripts next to each other. */
function toAsciiDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0
  let zero = point
  while (DECIMAL_DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((point - zero) % 10)
}

const isCode = (text: string): boolean => /^\d{4,10}$/.test(text)

/** For every member in which a code comes in. What can be no code of any app is refused, and is no attempt. */
export const enteredCode = (text: z.ZodString = z.string()) =>
  text
    .overwrite(normalizeCode)
    .refine(isCode, 'must have 4 to 10 digits; white space and hyphens between them do not count')
