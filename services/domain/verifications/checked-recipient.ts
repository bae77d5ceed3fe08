// In: a recipient as a caller typed it, and the mode of the caller's key. Out: the recipient that a send accepts, or null. A magic recipient
// is accepted even if the phone number metadata calls it invalid, except the one that plays an invalid recipient.
import { type Magic, magicOf } from '../../../machines/magic-recipients.ts'
import type { Mode } from '../../../machines/otp.ts'
import { type ParsedRecipient, parseRecipient } from './valid-recipient.ts'

export interface CheckedRecipient {
  parsed: ParsedRecipient
  /** Null for an ordinary recipient. */
  magic: Magic | null
}

export function acceptRecipient(text: string, mode: Mode): CheckedRecipient | null {
  const found = parseRecipient(text)
  const magic = magicOf(mode, found?.value ?? text)
  if (magic && 'refuses' in magic && magic.refuses === 'InvalidRecipientError') return null
  const parsed = found ?? (magic ? magicRecipient(text) : null)
  return parsed && { parsed, magic }
}

const magicRecipient = (text: string): ParsedRecipient =>
  text.includes('@') ? { kind: 'email', value: text } : { kind: 'phone', value: text, country: 'US', callingCode: '1' }
