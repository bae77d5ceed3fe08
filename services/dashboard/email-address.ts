// An email address in a request. In: the text. Out: the address in canonical form, the rules being those of recipients: one address, no
// display name, no line breaks, the domain in lower case and in Unicode.
import { z } from 'zod'
import { parseRecipient } from '../domain/verifications/valid-recipient.ts'

const MAX_LENGTH = 1_000

const canonicalEmail = (text: string): string | null => {
  const parsed = text.length > MAX_LENGTH ? null : parseRecipient(text.trim())
  return parsed?.kind === 'email' ? parsed.value : null
}

export const emailAddress = z
  .string()
  .refine(text => canonicalEmail(text) !== null, {
    message: 'must be an email address, such as "ada@example.com"',
    abort: true,
  })
  .overwrite(text => canonicalEmail(text) ?? text)
