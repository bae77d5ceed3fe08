// The code of a verification, and the message of a delivery. In: a verification with sealed data. Out: the code; or
// recipient, code and text. Both are in the clear, and must never be stored or logged.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { idOf, triesOf } from '../../../machines/otp.ids.ts'
import type { Delivery, Otp } from '../../../machines/otp.ts'
import type { TenantApp } from '../tenancy/tenancy.ts'
import { contactRequestText, endingOf, type MessageText, minutesInText, renderMessage } from '../texts/message-text.ts'
import { ownTextFor } from '../texts/own-texts.ts'
import { atRest } from './encryption-context.ts'

/** In a request for the contact, `recipient` is the id of a WhatsApp user, and `code` is empty. */
export interface MessageContent extends MessageText {
  recipient: string
  code: string
}

export interface ContentInput {
  otp: Otp
  delivery: Pick<Delivery, 'delivery_id' | 'channel' | 'generation' | 'created_at' | 'writer' | 'asked_as'>
  app: Pick<TenantApp, 'name' | 'settings'>
  /** One of `LANGUAGES`. */
  locale: string
  /** Where it is known. */
  code?: string | undefined
}

/** The code of a verification, or the one that the caller of a message gave. Throws `Unsealable` or `UnknownSecret` when a data key or code
 *  secret is no longer configured. */
export function codeOf(keyring: Pick<Keyring, 'unseal' | 'code'>, otp: Otp, generation = otp.generation): string {
  const { otp_id, code } = otp
  if ('given' in code) {
    if (code.given === null) throw new Error('the code of a message that has ended is erased')
    return keyring.unseal(code.given, atRest.givenCode(otp_id))
  }
  const { secret, salt, length } = code
  return keyring.code(secret, { otpId: otp_id, generation, salt: keyring.unseal(salt, atRest.salt(otp)), length })
}

/** Throws as `codeOf` does. */
export function renderContent(
  keyring: Pick<Keyring, 'unseal' | 'code'>,
  { otp, delivery, app, locale, code: given }: ContentInput,
): MessageContent {
  if (delivery.writer !== undefined)
    return {
      recipient: keyring.unseal(delivery.writer, atRest.writer(delivery.delivery_id)),
      code: '',
      text: contactRequestText(locale, app.name),
      subject: null,
      html: null,
    }
  const code = given ?? codeOf(keyring, otp, delivery.generation)
  const { text } = triesOf(otp, idOf(otp, delivery))
  return {
    recipient: keyring.unseal(otp.recipient.sealed, atRest.recipient(otp.otp_id)),
    code,
    ...renderMessage({
      channel: delivery.channel,
      locale,
      app: text?.app_name ?? app.name,
      code,
      minutes: minutesOf(otp, delivery),
      ending: endingOf(app.settings.channels.sms, text),
      own: ownTextFor(app.settings, delivery.channel, otp.locale),
    }),
  }
}

/** The life of a code that we did not make is known where its caller has told it. Below a minute nothing is said: it
 *  would be rounded up. */
function minutesOf(otp: Otp, delivery: Pick<Delivery, 'created_at'>): number | null {
  const { code, first_sent_at } = otp
  if (!('given' in code)) return minutesInText(validMs(otp, delivery))
  const leftMs = code.life_ms === undefined ? 0 : first_sent_at + code.life_ms - delivery.created_at
  return leftMs < MINUTE_MS ? null : minutesInText(leftMs)
}

/** From when the message was made: an answer in the chat does not start the lifetime again. A later resend does, but an
 *  earlier message still says its own. */
const validMs = ({ expires_at, rules }: Otp, { created_at }: Pick<Delivery, 'created_at'>): number =>
  Math.min(rules.ttl_ms, expires_at - created_at)
