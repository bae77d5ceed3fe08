// Keyed indexes: documents are found and counted by these, so that no recipient, client address or reference is readable in the store.
// In: a value in the clear. Out: its index under the current data key, or under every data key (the current one first).
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import type { OtpDoc } from './documents.ts'
import { mailboxOf } from './mailbox.ts'

/** An app in one of its two modes. */
export type AppMode = Pick<OtpDoc, 'app_id' | 'mode'>

type Indexer = Pick<Keyring, 'index'>
type AllKeysIndexer = Pick<Keyring, 'indexes'>

/** In lower case: mail servers do not tell `Ada@` from `ada@`. */
export const recipientKey = (recipient: string): string => recipient.toLowerCase()

/** Live and test have scopes of their own, so that neither finds or counts the other's. */
export const recipientScope = (app_id: string, mode: string): string => `recipient:${app_id}:${mode}`
export const addressScope = (app_id: string, mode: string): string => `client_ip:${app_id}:${mode}`

export const recipientIndexes = (keyring: AllKeysIndexer, { app_id, mode }: AppMode, recipient: string): string[] =>
  keyring.indexes(recipientScope(app_id, mode), recipientKey(recipient))

/** For counters: every spelling of one mailbox shares its limits. Most recipients have one spelling, and then these are `indexes`, which
 *  are the recipient's own. */
export const mailboxIndexes = (
  keyring: AllKeysIndexer,
  { app_id, mode }: AppMode,
  recipient: string,
  indexes = recipientIndexes(keyring, { app_id, mode }, recipient),
): string[] => {
  const mailbox = mailboxOf(recipient)
  return mailbox === recipientKey(recipient) ? indexes : keyring.indexes(recipientScope(app_id, mode), mailbox)
}

/** The first of `mailboxIndexes`. `index`: the recipient's own. */
export const mailboxIndex = (keyring: Indexer, { app_id, mode }: AppMode, recipient: string, index: string): string => {
  const mailbox = mailboxOf(recipient)
  return mailbox === recipientKey(recipient) ? index : keyring.index(recipientScope(app_id, mode), mailbox)
}

const metadataScope = ({ app_id, mode }: AppMode, name: string): string => `metadata:${app_id}:${mode}:${name}`

export const metadataIndex = (keyring: Indexer, appMode: AppMode, name: string, value: string): string =>
  keyring.index(metadataScope(appMode, name), value)

export const metadataIndexes = (keyring: AllKeysIndexer, appMode: AppMode, name: string, value: string): string[] =>
  keyring.indexes(metadataScope(appMode, name), value)

/** Where an idempotency key counts: a device must not be able to use up a key of the backend, nor test mode one of live mode. Those of
 *  messages count apart, because a repeated call must not be answered with a verification. */
export type KeyOwner = Pick<Identity, 'company_id' | 'mode'> & { kind: KeyKind | 'message' }

export const idempotencyIndexes = (
  keyring: AllKeysIndexer,
  { company_id, mode, kind }: KeyOwner,
  idempotencyKey: string,
): string[] => keyring.indexes(`idempotency key:${company_id}:${mode}:${kind}`, idempotencyKey)

/** What a message says, and to whom: by this the same message is known that is asked for again. Apart from idempotency keys, which share
 *  their collection. */
export const messageIndexes = (
  keyring: AllKeysIndexer,
  { app_id, mode }: AppMode,
  { recipient, code }: { recipient: string; code: string },
): string[] => keyring.indexes(`message:${app_id}:${mode}`, JSON.stringify([recipientKey(recipient), code]))

/** Where sends to a recipient take turns. Apart from idempotency keys, which share their collection. */
export const reuseIndexes = (
  keyring: AllKeysIndexer,
  { app_id, mode, kind }: AppMode & Pick<Identity, 'kind'>,
  recipient: string,
): string[] => keyring.indexes(`reuse:${app_id}:${mode}:${kind}`, recipientKey(recipient))

/** One scope for all apps: a user's WhatsApp message holds the reference and does not name an app. */
const REFERENCE_SCOPE = 'whatsapp reference'

export const referenceIndex = (keyring: Indexer, reference: string): string =>
  keyring.index(REFERENCE_SCOPE, reference.toUpperCase())

export const referenceIndexes = (keyring: AllKeysIndexer, reference: string): string[] =>
  keyring.indexes(REFERENCE_SCOPE, reference.toUpperCase())

/** One scope for all apps: the sandbox inbox is searched by recipient alone. */
const SANDBOX_SCOPE = 'sandbox recipient'

export const sandboxIndex = (keyring: Indexer, recipient: string): string =>
  keyring.index(SANDBOX_SCOPE, recipientKey(recipient))

export const sandboxIndexes = (keyring: AllKeysIndexer, recipient: string): string[] =>
  keyring.indexes(SANDBOX_SCOPE, recipientKey(recipient))
