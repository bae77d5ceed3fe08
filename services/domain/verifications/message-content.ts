// Renders the message of a delivery. In: a verification with sealed data. Out: recipient, code and text in the clear. The result must
// never be stored or logged.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Delivery, Otp } from '../../../machines/otp.ts'
import type { TenantApp } from '../tenancy/tenancy.ts'
import { type MessageText, minutesInText, renderMessage } from '../texts/message-text.ts'
import { ownTextFor } from '../texts/own-texts.ts'
import { codeOf } from './code.ts'
import { atRest } from './encryption-context.ts'

export interface MessageContent extends MessageText {
  recipient: string
  code: string
}

export interface ContentInput {
  otp: Otp
  delivery: Pick<Delivery, 'channel' | 'generation' | 'created_at'>
  app: Pick<TenantApp, 'name' | 'settings'>
  /** One of `LANGUAGES`. */
  locale: string
  /** Where it is known. */
  code?: string | undefined
}

type ContentKeyring = Pick<Keyring, 'unseal' | 'code'>

/** Throws `Unsealable` or `UnknownSecret` when a data key or code secret of the verification is no longer configured. */
export function renderContent(
  keyring: ContentKeyring,
  { otp, delivery, app, locale, code: given }: ContentInput,
): MessageContent {
  const code = given ?? codeOf(keyring, otp, delivery.generation)
  return {
    recipient: keyring.unseal(otp.recipient.sealed, atRest.recipient(otp.otp_id)),
    code,
    ...renderMessage({
      channel: delivery.channel,
      locale,
      app: app.name,
      code,
      minutes: minutesInText(validMs(otp, delivery)),
      sms: app.settings.channels.sms,
      own: ownTextFor(app.settings, delivery.channel, otp.locale),
    }),
  }
}

/** From when the message was made: an answer in the chat does not start the lifetime again. A later resend does, but an earlier message still
 *  says its own. */
const validMs = ({ expires_at, rules }: Otp, { created_at }: Pick<Delivery, 'created_at'>): number =>
  Math.min(rules.ttl_ms, expires_at - created_at)
