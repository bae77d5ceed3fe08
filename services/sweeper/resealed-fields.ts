// The fields of one document that must be sealed or indexed again with the current key. In: the document. Out: the fields to set; none when
// it is up to date. A text whose key is missing is left as it is and reported; the document's other texts are still resealed.
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import { MODES } from '../../machines/otp.ts'
import {
  type App,
  challengeSecretContext,
  hookSecretContext,
  type Provider,
  providerContext,
  SIGNED_LOGINS,
} from '../domain/tenancy/documents.ts'
import { emailIndex, type UserDoc, userContext } from '../domain/users/documents.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest } from '../domain/verifications/encryption-context.ts'
import { recipientIndexes, referenceIndex, referenceIndexes } from '../domain/verifications/lookup-indexes.ts'
import type { Metadata } from '../domain/verifications/metadata.ts'
import { referencesIn } from '../domain/verifications/whatsapp-references.ts'
import { type WebhookEndpoint, type WebhookSecret, webhookSecretContext } from '../domain/webhooks/documents.ts'

export type ResealKeyring = Pick<Keyring, 'seal' | 'unseal' | 'isCurrent' | 'index' | 'indexes'>

export interface ResealedFields {
  set: Record<string, unknown>
  unsealable: boolean
  /** In the clear, if they were resealed: counters and other documents are indexed by them. */
  recipient?: string
  address?: string
  metadata?: Metadata
}

type ResealedText = { sealed: string; plain: string }

/** Answers null for a text that is up to date, or that does not open. */
export const createResealText =
  (keyring: Pick<Keyring, 'seal' | 'unseal' | 'isCurrent'>, fields: Pick<ResealedFields, 'unsealable'>) =>
  (sealed: string | null, context: string): ResealedText | null => {
    try {
      if (sealed === null || keyring.isCurrent(sealed)) return null
      const plain = keyring.unseal(sealed, context)
      return { sealed: keyring.seal(plain, context), plain }
    } catch (error) {
      if (!(error instanceof Unsealable)) throw error
      fields.unsealable = true
      return null
    }
  }

export function resealedOtpFields(
  keyring: ResealKeyring,
  { _id, app_id, mode, context, first, reference, metadata }: OtpDoc,
): ResealedFields {
  const fields: ResealedFields = { set: {}, unsealable: false }
  const { set } = fields
  const resealText = createResealText(keyring, fields)

  const recipient = resealText(context.recipient.sealed, atRest.recipient(_id))
  if (recipient) {
    const [index] = recipientIndexes(keyring, { app_id, mode }, recipient.plain)
    set['context.recipient.sealed'] = recipient.sealed
    set['context.recipient.index'] = index
    set.recipient = index
    fields.recipient = recipient.plain
  }
  const address = resealText(context.client_ip, atRest.clientIp(_id))
  if (address) {
    set['context.client_ip'] = address.sealed
    fields.address = address.plain
  }
  const { code } = context
  if ('given' in code) {
    const given = resealText(code.given, atRest.givenCode(_id))
    if (given) set['context.code.given'] = given.sealed
  } else {
    const salt = resealText(code.salt, atRest.salt(context))
    if (salt) set['context.code.salt'] = salt.sealed
  }
  const actionUrl = resealText(first.sealed_action_url, atRest.link(_id))
  if (actionUrl) set['first.sealed_action_url'] = actionUrl.sealed

  const own = resealText(metadata ?? null, atRest.metadata(_id))
  if (own) {
    set.metadata = own.sealed
    fields.metadata = JSON.parse(own.plain)
  }
  const joined = context.joined?.map(one => {
    const resealed = resealText(one.metadata ?? null, atRest.metadata(one.otp_id))
    return resealed ? { ...one, metadata: resealed.sealed } : one
  })
  if (joined?.some((one, nth) => one !== context.joined?.[nth])) set['context.joined'] = joined
  const deliveries = context.deliveries.map(delivery => {
    const writer = resealText(delivery.writer ?? null, atRest.writer(delivery.delivery_id))
    return writer ? { ...delivery, writer: writer.sealed } : delivery
  })
  if (deliveries.some((delivery, at) => delivery !== context.deliveries[at])) set['context.deliveries'] = deliveries
  const link = resealText(context.link?.sealed_url ?? null, atRest.link(_id))
  if (link) {
    set['context.link.sealed_url'] = link.sealed
    const index = newReferenceIndex(keyring, link.plain, context.link?.reference)
    if (index !== null) {
      set['context.link.reference'] = index
      if (reference !== undefined) set.reference = index
    }
  }
  return fields
}

/** The reference is one of the words of the link's text: the one that the old index belongs to. */
function newReferenceIndex(keyring: ResealKeyring, url: string, stored: string | undefined): string | null {
  const text = new URL(url).searchParams.get('text') ?? ''
  const match = referencesIn(text).find(word => referenceIndexes(keyring, word).includes(stored ?? ''))
  return match === undefined ? null : referenceIndex(keyring, match)
}

export function resealedProviderFields(keyring: ResealKeyring, { _id, config }: Provider): ResealedFields {
  const fields: ResealedFields = { set: {}, unsealable: false }
  const resealed = createResealText(keyring, fields)(config, providerContext(_id))
  if (resealed) fields.set.config = resealed.sealed
  return fields
}

export function resealedAppFields(
  keyring: ResealKeyring,
  { _id, hook_secrets = {}, challenge_secret = null }: App,
): ResealedFields {
  const fields: ResealedFields = { set: {}, unsealable: false }
  const resealText = createResealText(keyring, fields)
  for (const login of SIGNED_LOGINS)
    for (const mode of MODES) {
      const stored = hook_secrets[login]?.[mode] ?? []
      const all = stored.map(sealed => resealText(sealed, hookSecretContext(_id, login, mode))?.sealed ?? sealed)
      if (all.some((sealed, at) => sealed !== stored[at])) fields.set[`hook_secrets.${login}.${mode}`] = all
    }
  const challenge = resealText(challenge_secret, challengeSecretContext(_id))
  if (challenge) fields.set.challenge_secret = challenge.sealed
  return fields
}

export function resealedUserFields(
  keyring: ResealKeyring,
  { _id, sealed_email, sealed_name }: UserDoc,
): ResealedFields {
  const fields: ResealedFields = { set: {}, unsealable: false }
  const resealText = createResealText(keyring, fields)
  const email = resealText(sealed_email, userContext.email(_id))
  if (email) {
    fields.set.sealed_email = email.sealed
    fields.set.email = emailIndex(keyring, email.plain)
  }
  const name = resealText(sealed_name, userContext.name(_id))
  if (name) fields.set.sealed_name = name.sealed
  return fields
}

export function resealedWebhookFields(keyring: ResealKeyring, { _id, secrets }: WebhookEndpoint): ResealedFields {
  const fields: ResealedFields = { set: {}, unsealable: false }
  const resealText = createResealText(keyring, fields)
  const all = secrets.map((secret): WebhookSecret => {
    const resealed = resealText(secret.sealed, webhookSecretContext(_id, secret.id))
    return resealed ? { ...secret, sealed: resealed.sealed } : secret
  })
  if (all.some((secret, at) => secret !== secrets[at])) fields.set.secrets = all
  return fields
}
