// The fields of a document that must be sealed or indexed again with the current key. In: the document. Out: the fields to set; none when
// it is up to date. A text whose key is missing is left as it is and reported; the document's other texts are still renewed.
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import { type Provider, providerContext } from '../domain/tenancy/documents.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest } from '../domain/verifications/encryption-context.ts'
import { recipientIndexes, referenceIndex, referenceIndexes } from '../domain/verifications/lookup-indexes.ts'
import { referencesIn } from '../domain/verifications/whatsapp-references.ts'
import { type WebhookEndpoint, type WebhookSecret, webhookSecretContext } from '../domain/webhooks/documents.ts'

export type RenewalKeyring = Pick<Keyring, 'seal' | 'unseal' | 'isCurrent' | 'index' | 'indexes'>

export interface Renewal {
  set: Record<string, unknown>
  unsealable: boolean
  /** In the clear, if they were renewed: counters and other documents are indexed by them. */
  recipient?: string
  address?: string
}

type RenewedText = { sealed: string; plain: string }

/** Answers null for a text that is up to date, or that does not open. */
const createRenewText =
  (keyring: RenewalKeyring, renewal: Renewal) =>
  (sealed: string | null, context: string): RenewedText | null => {
    try {
      if (sealed === null || keyring.isCurrent(sealed)) return null
      const plain = keyring.unseal(sealed, context)
      return { sealed: keyring.seal(plain, context), plain }
    } catch (error) {
      if (!(error instanceof Unsealable)) throw error
      renewal.unsealable = true
      return null
    }
  }

export function otpRenewal(keyring: RenewalKeyring, { _id, app_id, mode, context, first, reference }: OtpDoc): Renewal {
  const renewal: Renewal = { set: {}, unsealable: false }
  const { set } = renewal
  const renewText = createRenewText(keyring, renewal)

  const recipient = renewText(context.recipient.sealed, atRest.recipient(_id))
  if (recipient) {
    const [index] = recipientIndexes(keyring, { app_id, mode }, recipient.plain)
    set['context.recipient.sealed'] = recipient.sealed
    set['context.recipient.index'] = index
    set.recipient = index
    renewal.recipient = recipient.plain
  }
  const address = renewText(context.client_ip, atRest.clientIp(_id))
  if (address) {
    set['context.client_ip'] = address.sealed
    renewal.address = address.plain
  }
  const salt = renewText(context.code.salt, atRest.salt(_id))
  if (salt) set['context.code.salt'] = salt.sealed
  const actionUrl = renewText(first.sealed_action_url, atRest.link(_id))
  if (actionUrl) set['first.sealed_action_url'] = actionUrl.sealed

  const link = renewText(context.link?.sealed_url ?? null, atRest.link(_id))
  if (link) {
    set['context.link.sealed_url'] = link.sealed
    const index = newReferenceIndex(keyring, link.plain, context.link?.reference)
    if (index !== null) {
      set['context.link.reference'] = index
      if (reference !== undefined) set.reference = index
    }
  }
  return renewal
}

/** The reference is one of the words of the link's text: the one that the old index belongs to. */
function newReferenceIndex(keyring: RenewalKeyring, url: string, stored: string | undefined): string | null {
  const text = new URL(url).searchParams.get('text') ?? ''
  const match = referencesIn(text).find(word => referenceIndexes(keyring, word).includes(stored ?? ''))
  return match === undefined ? null : referenceIndex(keyring, match)
}

export function providerRenewal(keyring: RenewalKeyring, { _id, config }: Provider): Renewal {
  const renewal: Renewal = { set: {}, unsealable: false }
  const renewed = createRenewText(keyring, renewal)(config, providerContext(_id))
  if (renewed) renewal.set.config = renewed.sealed
  return renewal
}

export function webhookRenewal(keyring: RenewalKeyring, { _id, secrets }: WebhookEndpoint): Renewal {
  const renewal: Renewal = { set: {}, unsealable: false }
  const renewText = createRenewText(keyring, renewal)
  const all = secrets.map((secret): WebhookSecret => {
    const resealed = renewText(secret.sealed, webhookSecretContext(_id, secret.id))
    return resealed ? { ...secret, sealed: resealed.sealed } : secret
  })
  if (all.some((secret, at) => secret !== secrets[at])) renewal.set.secrets = all
  return renewal
}
