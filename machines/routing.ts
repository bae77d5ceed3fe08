// Which channels can take a verification now, in which order, and why the others cannot. Pure, so that a send, a resend and the
// admin API's explanation all say the same.
import { CHANNELS, type Channel } from './channels.ts'
import type { KeyKind, Recipient } from './otp.ts'
import type { AppSettings, RoutingSettings, WhatsAppMode } from './settings.ts'

export interface RoutingInput {
  settings: Pick<AppSettings, 'channels'>
  recipient: 'phone' | 'email'
  /** Channels that have a provider; in test mode the sandbox provides them all. */
  providedChannels: readonly Channel[]
  /** The mode in force: the app's on send, the verification's own on resend. */
  whatsapp: WhatsAppMode
  caller: KeyKind
}

export type Obstacle =
  | 'disabled'
  | 'cannot_reach_recipient'
  | 'no_provider'
  | 'no_business_number'
  | 'not_provable_by_device'

/** Why a channel is not usable; null when it is. */
export function obstacle(
  channel: Channel,
  { settings, recipient, providedChannels, whatsapp, caller }: RoutingInput,
): Obstacle | null {
  if (!settings.channels[channel].enabled) return 'disabled'
  if ((channel === 'email') !== (recipient === 'email')) return 'cannot_reach_recipient'
  if (!providedChannels.includes(channel)) return 'no_provider'
  if (channel !== 'whatsapp' || whatsapp === 'template') return null
  if (settings.channels.whatsapp.business_number === null) return 'no_business_number'
  // Approved by a message, it would have no code to verify and so no token: a device could never prove it.
  return whatsapp === 'link_inbound' && caller === 'publishable' ? 'not_provable_by_device' : null
}

export const usableChannels = (situation: RoutingInput): Channel[] =>
  CHANNELS.filter(channel => obstacle(channel, situation) === null)

export const orderFor = (routing: RoutingSettings, country: string | null): Channel[] =>
  (country === null ? undefined : routing.countries[country]) ?? routing.default

export const firstUsable = (order: readonly Channel[], usable: readonly Channel[]): Channel | undefined =>
  order.find(channel => usable.includes(channel))

/** Numbers of no country (satellites, international networks and premium services) are of none that is allowed; mail has no country. */
export const isGeoBlocked = (
  {
    blocked_countries: blocked,
    allowed_countries: allowed,
  }: Pick<AppSettings, 'blocked_countries' | 'allowed_countries'>,
  { kind, country }: Pick<Recipient, 'kind' | 'country'>,
): boolean => {
  if (kind === 'email') return false
  if (country === null) return allowed !== null
  return blocked.includes(country) || (allowed !== null && !allowed.includes(country))
}
