// Recipients in requests of operators. In: a recipient as an operator typed it. Out: its canonical form, and the filter
// that finds its documents in an app. Who erased a recipient or looked one up is in the audit log, with a fingerprint
// in place of the recipient: who knows the recipient can find them there, and no other reader of the log learns it.
import { z } from 'zod'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Filter } from '../../infra/store/docs.ts'
import { MODES } from '../../machines/otp.ts'
import { E164 } from '../../machines/settings.values.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { recipientIndexes, recipientKey } from '../domain/verifications/lookup-indexes.ts'
import { lookupForm, parseRecipient } from '../domain/verifications/valid-recipient.ts'
import { type AdminRequest, principalOf } from './access.ts'
import type { AdminDeps } from './admin-deps.ts'
import { validationProblem } from './request-input.ts'

/** Longer than any recipient. */
export const recipientText = z.string().min(1).max(512)

/** A "+" that was not escaped in the query arrives as a space. In a number both are ignored, and no address contains a space. */
export const recipientQuery = recipientText
  .transform(text => text.replaceAll(' ', '+'))
  .optional()
  .meta({ description: 'A phone number (`%2B` for the plus) or an email address.' })

/** The recipient to erase, found in every spelling in which a search finds it. A number without its plus must be a
 *  valid one: a national number would name no person, or another one. With the plus an invalid number is erased too, as
 *  is an invalid address: refused sends may have them. */
export function recipientToErase(text: string): string {
  const form = lookupForm(text)
  const isRecipient =
    parseRecipient(form) !== null || text.includes('@') || (/^[\s(]*(\+|00)/.test(text) && E164.test(form))
  if (isRecipient) return form
  const message = 'must be a phone number with its country code, or an email address'
  throw validationProblem([{ path: 'recipient', message }])
}

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

/** In a scope of its own, so that it equals no index in the store. `scope`: the app or company in which the recipient was named. */
export const recipientFingerprint = (keyring: Pick<Keyring, 'index'>, scope: string, recipient: string): string =>
  keyring.index(`erased recipient:${scope}`, recipientKey(recipient)).slice(0, 16)

/** One value of metadata that was searched for. */
interface MetadataValue {
  name: string
  value: string
}

export interface Lookup {
  recipient?: string | undefined
  metadata?: MetadataValue | undefined
  /** Null for all that the caller may see. */
  app: { _id: string; company_id: string } | null
  /** The list that is read. */
  list: 'verifications' | 'refusals' | 'recipient_rules' | 'sandbox'
  /** Further pages belong to the first. */
  cursor?: string | undefined
}

/** Before the answer, so that nothing is shown without a record. A value of metadata may name a person too. */
export async function recordLookup(
  request: AdminRequest,
  { keyring, withAudit }: Pick<AdminDeps, 'keyring' | 'withAudit'>,
  { recipient, metadata, app, list, cursor }: Lookup,
): Promise<void> {
  if ((recipient === undefined && metadata === undefined) || cursor !== undefined) return
  const company_id = app?.company_id ?? principalOf(request).company_id
  const target = app?._id ?? company_id ?? 'all companies'
  const after = {
    list,
    ...(recipient === undefined ? {} : { recipient: recipientFingerprint(keyring, target, lookupForm(recipient)) }),
    ...(metadata === undefined
      ? {}
      : { metadata: { name: metadata.name, value: metadataFingerprint(keyring, target, metadata) } }),
  }
  await withAudit(request, () => ({
    action: 'recipient.look_up',
    target,
    company_id,
    before: null,
    after,
    perform: async () => true,
  }))
}

const metadataFingerprint = (keyring: Pick<Keyring, 'index'>, scope: string, { name, value }: MetadataValue): string =>
  keyring.index(`looked up metadata:${scope}:${name}`, value).slice(0, 16)
