// Which channels can be used for a verification now, in which order, and why the others cannot. Pure, so that a send, a resend and the
// admin API's explanation use the same rules.
import { type AskedRoute, CHANNELS, type Channel, type ChannelReason, type Obstacle } from './channels.ts'
import type { KeyKind, Prices, Recipient } from './otp.ts'
import type { AppSettings, NumberKind, RefusableNumberKind, RoutingSettings, WhatsAppMode } from './settings.ts'

/** Where a provider may be used. */
export interface ProviderScope {
  channel: Channel
  /** An operator has paused it. */
  paused: boolean
  /** The countries whose numbers it serves; null: all of them. */
  countries: string[] | null
}

/** What the vendor charges for a message, in micro-units by country; `*` holds where the country has no entry. */
export type ProviderCost = Readonly<Record<string, number>>

/** Null where it is not known. */
export const costIn = (cost: ProviderCost, country: string | null): number | null =>
  (country === null ? undefined : cost[country]) ?? cost['*'] ?? null

/** In test mode the sandbox serves every channel. */
export const SANDBOX_SCOPES: readonly ProviderScope[] = CHANNELS.map(channel => ({
  channel,
  paused: false,
  countries: null,
}))

export interface RoutingInput {
  settings: Pick<AppSettings, 'channels' | 'number_kinds'>
  recipient: 'phone' | 'email'
  /** Undefined for an address, and for a number of no special kind. */
  number_kind: NumberKind | undefined
  /** Null for an address, and for a number of no country: every provider serves them. */
  country: string | null
  /** The app's; in test mode the sandbox serves every channel. */
  providers: readonly ProviderScope[]
  /** The app's mode on a send, the verification's own mode on a resend. */
  whatsapp: WhatsAppMode
  caller: KeyKind
  /** The digits of its code; null for one that its caller made, which `askedRoute` judges. */
  code_length: number | null
  /** The channels on which the recipient asked for no more messages; absent where there are none. */
  stopped?: readonly Channel[]
}

/** Why a channel is not usable; null when it is usable. */
export function obstacle(channel: Channel, input: RoutingInput): Obstacle | null {
  const { settings, recipient, number_kind, country, providers, whatsapp, caller, code_length, stopped = [] } = input
  if (!settings.channels[channel].enabled) return 'disabled'
  if ((channel === 'email') !== (recipient === 'email')) return 'cannot_reach_recipient'
  if (refusedNumberKind(settings, number_kind) !== null) return 'number_kind'
  if (channel === 'sms' && number_kind === 'fixed_line' && settings.number_kinds.fixed_line === 'skip_sms')
    return 'number_kind'
  const missing = providerObstacle(channel, providers, country)
  if (missing !== null) return missing
  if (channel === 'whatsapp' && whatsapp !== 'template') {
    if (settings.channels.whatsapp.business_number === null) return 'no_business_number'
    // A message approves without a code, so a device would get no token and could not prove the approval to its backend.
    if (whatsapp === 'link_inbound' && caller === 'publishable') return 'not_provable_by_device'
  }
  if (channel === 'telegram' && code_length !== null && code_length > MAX_TELEGRAM_DIGITS) return 'code_too_long'
  // The last one: a channel with this obstacle could be used without it.
  return stopped.includes(channel) ? 'stopped_by_recipient' : null
}

export const serves = ({ countries }: Pick<ProviderScope, 'countries'>, country: string | null): boolean =>
  countries === null || country === null || countries.includes(country)

/** Whether a message to this country may be sent through the provider now. */
export const mayBeUsed = (provider: Omit<ProviderScope, 'channel'>, country: string | null): boolean =>
  !provider.paused && serves(provider, country)

/** A provider that serves the country and is paused is nearer to a remedy than one that does not serve it. */
function providerObstacle(
  channel: Channel,
  providers: readonly ProviderScope[],
  country: string | null,
): Obstacle | null {
  let nearest: Obstacle = 'no_provider'
  for (const provider of providers) {
    if (provider.channel !== channel) continue
    if (mayBeUsed(provider, country)) return null
    if (serves(provider, country)) nearest = 'provider_paused'
    else if (nearest === 'no_provider') nearest = 'no_provider_for_country'
  }
  return nearest
}

const REASONS: Record<Obstacle, ChannelReason> = {
  disabled: 'off',
  cannot_reach_recipient: 'recipient',
  number_kind: 'number_kind',
  no_provider: 'no_provider',
  no_provider_for_country: 'country',
  provider_paused: 'provider_paused',
  stopped_by_recipient: 'stopped',
  code_too_long: 'code_length',
  // By the app's settings no one, or no device, can use its link.
  no_business_number: 'off',
  not_provable_by_device: 'off',
}

/** Why a send does not use a channel; null where it could. */
export const channelReason = (
  channel: Channel,
  order: readonly Channel[],
  blockedBy: Obstacle | null,
): ChannelReason | null => {
  if (blockedBy !== null) return REASONS[blockedBy]
  return order.includes(channel) ? null : 'not_in_order'
}

export const usableChannels = (input: RoutingInput): Channel[] =>
  CHANNELS.filter(channel => obstacle(channel, input) === null)

export const orderFor = (routing: Pick<RoutingSettings, 'default' | 'countries'>, country: string | null): Channel[] =>
  (country === null ? undefined : routing.countries[country]) ?? routing.default

export const firstUsable = (order: readonly Channel[], usable: readonly Channel[]): Channel | undefined =>
  order.find(channel => usable.includes(channel))

export interface SendRouteInput extends RoutingInput {
  settings: Pick<AppSettings, 'channels' | 'number_kinds' | 'routing'>
  asked: AskedRoute
  /** It carries a code that its caller made, who has no user to show a link to. */
  isMessage: boolean
}

export interface SendRoute {
  order: Channel[]
  /** In the order of `CHANNELS`, not in the routing order. */
  usable: Channel[]
  /** Absent where no channel of the order is usable. */
  channel?: Channel | undefined
}

/** What a call asks of the channels. */
export const askedRoute = ({ channel, without_link }: AskedRoute, givenCode: string | null): AskedRoute => ({
  ...(channel && { channel }),
  ...(without_link && { without_link }),
  ...(givenCode !== null && !TELEGRAM_CODE.test(givenCode) && { without_telegram: true }),
})

/** Telegram's gateway takes codes of 4 to 8 digits. */
export const MAX_TELEGRAM_DIGITS = 8
const TELEGRAM_CODE = /^\d{4,8}$/

/** The channel of a send. */
export function routeSend(input: SendRouteInput): SendRoute {
  const order = askedOrder(input)
  const usable = usableChannels(input)
  return { order, usable, channel: firstUsable(order, usable) }
}

/** The order that routing has for the country, as far as the call allows it. */
function askedOrder({ asked, isMessage, settings, country, whatsapp }: SendRouteInput): Channel[] {
  const order = asked.channel === undefined ? orderFor(settings.routing, country) : [asked.channel]
  const takesLink = (!isMessage && !asked.without_link) || whatsapp === 'template'
  if (takesLink && !asked.without_telegram) return order
  return order.filter(one => (takesLink || one !== 'whatsapp') && (!asked.without_telegram || one !== 'telegram'))
}

/** The first channel of the order on which nothing is paid for: in the link modes of WhatsApp the messages are replies.
 *  Sms never counts as free, even without a price in the list, because a text message always costs money. */
export const freeChannel = (
  { order, usable }: Pick<SendRoute, 'order' | 'usable'>,
  prices: Prices,
  whatsapp: WhatsAppMode,
): Channel | null =>
  order.find(
    channel =>
      channel !== 'sms' &&
      usable.includes(channel) &&
      !prices[channel === 'whatsapp' && whatsapp !== 'template' ? 'reply' : channel],
  ) ?? null

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

/** The kind for which the app refuses a number; null where it does not. */
export const refusedNumberKind = (
  { number_kinds: { refused } }: Pick<AppSettings, 'number_kinds'>,
  kind: NumberKind | undefined,
): RefusableNumberKind | null => refused.find(one => one === kind) ?? null
