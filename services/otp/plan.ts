// What a send will be: the checks that need no counting, in their order: recipient → geography → channel → address. Pure apart
// from what it is told.

import type { Refusal } from '../../machines/calls.ts'
import type { Channel } from '../../machines/channels.ts'
import type { ErrorType } from '../../machines/errors.ts'
import { type Magic, magicOf } from '../../machines/magic.ts'
import { maskEmail, maskPhone } from '../../machines/masking.ts'
import type { KeyKind, Mode, Prices } from '../../machines/otp.ts'
import { firstUsable, isGeoBlocked, orderFor, usableChannels } from '../../machines/routing.ts'
import type { WhatsAppMode } from '../../machines/settings.ts'
import { type ParsedRecipient, parseRecipient } from '../domain/verifications/recipient.ts'
import type { KnownApp } from './apps.ts'
import type { Reputation } from './limits/reputation.ts'
import { abusiveAddress, geoBlocked, limited, refused } from './refusals.ts'

export interface Wish {
  recipient: string
  mode: Mode
  caller: KeyKind
  app: KnownApp
  /** Null when there is no usable address. */
  reputation: Reputation | null
}

export interface Plan {
  recipient: ParsedRecipient
  masked: string
  country: string | null
  /** A recipient with a fixed fate skips the limits of its own. */
  magic: boolean
  /** Nothing can be paid: refused once all else is granted. */
  penniless: boolean
  order: Channel[]
  /** In no order. */
  usable: Channel[]
  channel: Channel
}

export function planSend({ recipient: text, mode, caller, app, reputation }: Wish): Plan | Refusal {
  const parsed = parseRecipient(text)
  const magic = magicOf(mode, parsed?.value ?? text)
  const recipient = parsed ?? (magic ? magicRecipient(text) : null)
  if (!recipient || fated(magic, 'InvalidRecipientError'))
    return refused('InvalidRecipientError', 'It must be a valid E.164 phone number or email address.')

  const country = recipient.kind === 'phone' ? recipient.country : null
  if (isGeoBlocked(app.settings, { kind: recipient.kind, country }) || fated(magic, 'GeoBlockedError'))
    return geoBlocked(country)

  const { settings } = app
  const whatsapp = settings.channels.whatsapp.mode
  const usableOf = (provided: readonly Channel[]): Channel[] =>
    usableChannels({ settings, recipient: recipient.kind, provided, whatsapp, caller })
  const usable = usableOf(app.provided(mode))
  const order = orderFor(settings.routing, country)
  const channel = firstUsable(order, usable)
  const hidden = mode === 'test' ? [] : app.unreadable
  // There is one, and it will do again once its key is back.
  const unread = channel === undefined && hidden.find(one => firstUsable(order, usableOf([one.channel])) !== undefined)
  if (unread) throw unread.problem
  if (channel === undefined || fated(magic, 'NoEnabledChannelError'))
    return refused(
      'NoEnabledChannelError',
      'No channel of the order is enabled, can reach the recipient and has a provider.',
    )

  if (reputation === 'abusive' || fated(magic, 'IpReputationBlockedError')) return abusiveAddress()
  if (fated(magic, 'RateLimitExceededError')) return limited('recipient', MAGIC_WAIT_MS)

  const masked =
    recipient.kind === 'phone' ? maskPhone(recipient.value, recipient.callingCode) : maskEmail(recipient.value)
  const penniless = fated(magic, 'InsufficientFundsError')
  return { recipient, masked, country, magic: magic !== null, penniless, order, usable, channel }
}

/** Where a text message could go instead, for nothing: the first other channel of the order without a price. A text message is never
 *  for nothing, whatever the price list says: somebody pays for it. */
export const freeChannel = ({ order, usable }: Plan, prices: Prices, whatsapp: WhatsAppMode): Channel | null =>
  order.find(
    channel =>
      channel !== 'sms' &&
      usable.includes(channel) &&
      // Approved by the user's own message, it sends none.
      (!prices[channel] || (channel === 'whatsapp' && whatsapp === 'link_inbound')),
  ) ?? null

const MAGIC_WAIT_MS = 60_000

const fated = (magic: Magic | null, error: ErrorType): boolean =>
  magic !== null && 'refuses' in magic && magic.refuses === error

/** Valid whatever the metadata says. */
const magicRecipient = (text: string): ParsedRecipient =>
  text.includes('@') ? { kind: 'email', value: text } : { kind: 'phone', value: text, country: 'US', callingCode: '1' }
