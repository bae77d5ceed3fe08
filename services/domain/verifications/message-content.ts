// Turns a delivery into what its recipient reads. In: a verification with everything sealed. Out: recipient, code and text in the
// clear: for the moment they are needed, never to be stored or logged.

import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Delivery, Otp } from '../../../machines/otp.ts'
import type { TenantApp } from '../tenancy/tenancy.ts'
import { type MessageText, renderMessage } from '../texts/message-text.ts'
import { atRest } from './encryption-context.ts'

export interface Content extends MessageText {
  recipient: string
  code: string
}

export interface ContentInput {
  otp: Otp
  delivery: Pick<Delivery, 'channel' | 'generation'>
  app: Pick<TenantApp, 'name' | 'settings'>
  /** One of `LANGUAGES`. */
  locale: string
}

type ContentKeyring = Pick<Keyring, 'unseal' | 'code'>

/** Throws `Unsealable` or `UnknownSecret` when a key it was made with is no longer there. */
export function renderContent(keyring: ContentKeyring, { otp, delivery, app, locale }: ContentInput): Content {
  const { otp_id } = otp
  const { secret, salt, length } = otp.code
  const code = keyring.code(secret, {
    otpId: otp_id,
    generation: delivery.generation,
    salt: keyring.unseal(salt, atRest.salt(otp_id)),
    length,
  })
  return {
    recipient: keyring.unseal(otp.recipient.sealed, atRest.recipient(otp_id)),
    code,
    ...renderMessage({
      channel: delivery.channel,
      locale,
      app: app.name,
      code,
      minutes: minutesOf(otp),
      sms: app.settings.channels.sms,
    }),
  }
}

const MINUTE_MS = 60_000

/** Rounded down: a text never promises more time than there is. */
const minutesOf = ({ expires_at, last_sent_at }: Otp): number =>
  Math.max(1, Math.floor((expires_at - last_sent_at) / MINUTE_MS))
