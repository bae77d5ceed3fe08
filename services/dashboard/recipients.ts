// Recipients in requests of operators. In: a recipient as an operator typed it. Out: its canonical form, and the filter that finds its
// documents in an app.
import { z } from 'zod'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Filter } from '../../infra/store/docs.ts'
import { MODES } from '../../machines/otp.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { recipientIndexes } from '../domain/verifications/lookup-indexes.ts'
import { lookupForm, parseRecipient } from '../domain/verifications/valid-recipient.ts'

/** A "+" that was not escaped in the query arrives as a space. In a number both are ignored, and no address contains a space. */
export const recipientQuery = z
  .string()
  .min(1)
  .transform(text => text.replaceAll(' ', '+'))
  .optional()
  .meta({ description: 'A phone number (`%2B` for the plus) or an email address.' })

/** The recipient to erase. A number without its plus may lack its country code too, and would be another person's: it stays as it is. */
export const recipientToErase = (text: string): string =>
  /^[\s(]*(\+|00)/.test(text) ? lookupForm(text) : (parseRecipient(text)?.value ?? text)

/** The keyed indexes of one recipient in an app, in both modes and under every data key. */
export const allRecipientIndexes = (keyring: Pick<Keyring, 'indexes'>, app_id: string, recipient: string): string[] =>
  MODES.flatMap(mode => recipientIndexes(keyring, { app_id, mode }, recipient))

/** Finds the documents of one recipient in an app. */
export const recipientFilter = (
  keyring: Pick<Keyring, 'indexes'>,
  app_id: string,
  recipient: string,
): Filter<Pick<OtpDoc, '_id' | 'recipient'>> => ({
  recipient: { $in: allRecipientIndexes(keyring, app_id, recipient) },
})
