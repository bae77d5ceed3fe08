// Which channels can be used for a verification now, in which order, and why the others cannot. Pure, so that a send, a resend and the
// admin API's explanation use the same rules.
import { CHANNELS, type Channel, type Obstacle } from './channels.ts'
import type { KeyKind, Recipient } from './otp.ts'
import type { AppSettings, RoutingSettings, WhatsAppMode } from './settings.ts'

export interface RoutingInput {
  settings: Pick<AppSettings, 'channels'>
  recipient: 'phone' | 'email'
  /** Channels that have a provider; in test mode the sandbox provides all of them. */
  providedChannels: readonly Channel[]
  /** The app's mode on a send, the verification's own mode on a resend. */
  whatsapp: WhatsAppMode
  caller: KeyKind
}

/** Why a channel is not usable; null when it is usable. */
export function obstacle(
  channel: Channel,
  { settings, recipient, providedChannels, whatsapp, caller }: RoutingInput,
): Obstacle | null {
  if (!settings.channels[channel].enabled) return 'disabled'
  if ((channel === 'email') !== (recipient === 'email')) return 'cannot_reach_recipient'
  if (!providedChannels.includes(channel)) return 'no_provider'
  if (channel !== 'whatsapp' || whatsapp === 'template') return null
  if (settings.channels.whatsapp.business_number === null) return 'no_business_number'
  // A message approves without a code, so a device would get no token and could not prove the approval to its backend.
  return whatsapp === 'link_inbound' && caller === 'publishable' ? 'not_provable_by_device' : null
}

export const usableChannels = (input: RoutingInput): Channel[] =>
  CHANNELS.filter(channel => obstacle(channel, input) === null)

export const orderFor = (routing: RoutingSettings, country: string | null): Channel[] =>
  (country === null ? undefined : routing.countries[country]) ?? routing.default

export const firstUsable = (order: readonly Channel[], usable: readonly Channel[]): Channel | undefined =>
  order.find(channel => usable.includes(channel))

/** A number without a country (satellite, international network or premium service) is blocked where the app lists the allowed
 *  countries. Email addresses are never blocked: they have no country. */
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
