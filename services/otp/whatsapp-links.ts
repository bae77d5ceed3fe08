// wa.me links. In: an app, the user's locale. Out: a link with a pre-filled text, which says in the user's language what sending it
// does, and ends in a reference to the verification. The reference is random; only its keyed index is stored.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { chooseLocale } from '../../machines/locale.ts'
import type { Link } from '../../machines/otp.ts'
import type { WhatsAppMode } from '../../machines/settings.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { LANGUAGES, linkText } from '../domain/texts/message-text.ts'
import { atRest } from '../domain/verifications/encryption-context.ts'
import { referenceIndex } from '../domain/verifications/lookup-indexes.ts'
import { newReference } from '../domain/verifications/whatsapp-references.ts'

/** A new link for a verification; null in template mode and without a business number. */
export function linkFor(
  keyring: Pick<Keyring, 'seal' | 'index'>,
  { otp_id, locale, whatsapp: mode }: { otp_id: string; locale: string; whatsapp: WhatsAppMode },
  { name, settings }: Pick<TenantApp, 'name' | 'settings'>,
): Link | null {
  const number = settings.channels.whatsapp.business_number
  if (mode === 'template' || number === null) return null
  const reference = newReference()
  const text = linkText(chooseLocale(locale, settings.locale, LANGUAGES), mode, name, reference)
  const url = `https://wa.me/${number.replace(/\D/g, '')}?text=${encodeURIComponent(text)}`
  return { sealed_url: keyring.seal(url, atRest.link(otp_id)), reference: referenceIndex(keyring, reference) }
}
