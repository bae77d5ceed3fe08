// The recipient of a refused send. In: what the caller typed, and the recipient that was read from it. Out: what is recorded of it.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { type AppMode, recipientIndexes } from '../verifications/lookup-indexes.ts'
import { lookupForm, maskRecipient, type ParsedRecipient } from '../verifications/valid-recipient.ts'

export interface RefusedRecipient {
  country: string | null
  /** Null for a text that is no recipient: no part of it is certain to be harmless. */
  masked: string | null
  /** Keyed. */
  index: string
}

/** Under every data key, the current one first. Texts that are no recipient are indexed too: a number that was sent with spaces or without
 *  its plus is found, and erased, by any spelling. In other texts a space counts as a plus, because a plus in a query arrives as a space. */
export const refusedRecipientIndexes = (keyring: Pick<Keyring, 'indexes'>, appMode: AppMode, text: string): string[] =>
  recipientIndexes(keyring, appMode, lookupForm(text).replaceAll(' ', '+'))

/** `recipient`: null for a text that is no recipient. */
export const refusedRecipient = (
  keyring: Pick<Keyring, 'indexes'>,
  appMode: AppMode,
  text: string,
  recipient: ParsedRecipient | null,
): RefusedRecipient => ({
  country: recipient?.kind === 'phone' ? recipient.country : null,
  masked: recipient === null ? null : maskRecipient(recipient),
  /** Computed when it is stored: of a flood of refusals most are only counted. */
  get index() {
    return refusedRecipientIndexes(keyring, appMode, recipient?.value ?? text)[0] ?? ''
  },
})
