// A recipient as an operator types it into a query. A "+" that was not escaped arrives as a space, and no recipient has one.
import { z } from 'zod'
import { parseRecipient } from '../../domain/verifications/recipient.ts'

export const recipientQuery = z
  .string()
  .min(1)
  .transform(text => text.replaceAll(' ', '+'))

/** The form it is indexed under. Magic numbers are no real ones and stay as they are. */
export const canonicalRecipient = (text: string): string => parseRecipient(text)?.value ?? text
