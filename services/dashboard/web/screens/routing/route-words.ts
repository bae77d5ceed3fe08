// What POST /apps/{id}/route answered, in words. In: the answer, and the app's providers. Out: sentences. Pure.
import { mayBeUsed } from '../../../../../machines/routing.ts'
import type { Schemas } from '../../api/schema.ts'
import { CHANNEL_NAMES, type Channel } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'

export type RoutePreview = Schemas['RoutePreview']
type ChannelChoice = Schemas['ChannelChoice']

/** The key that would send. */
export interface Sender {
  mode: Schemas['Mode']
  kind: Schemas['KeyKind']
  publishableSend: boolean
}

/** A recipient as the API takes it: people write numbers with spaces, dashes and brackets. */
export const recipientOf = (typed: string): string =>
  typed.includes('@') ? typed.trim() : typed.replaceAll(/[\s().\-/]/g, '')

const REFUSALS: Readonly<Record<string, string>> = {
  InvalidRecipientError:
    'A send is refused: this is no valid phone number with its country code, and no email address.',
  GeoBlockedError: "A send is refused: the number's country is blocked under Limits and fraud.",
  RecipientBlockedError:
    'A send is refused: the recipient wrote STOP on every channel that could be used. Nothing is sent until they write START there.',
  NoEnabledChannelError:
    'A send is refused: no channel of the order is switched on, can reach this recipient and has a provider for it.',
}

/** What happens to a send, in a sentence. */
export function sendOutcome(preview: RoutePreview, sender: Sender): string {
  if (sender.kind === 'publishable' && sender.mode === 'live' && !sender.publishableSend)
    return 'A send is refused: publishable keys may not send in live mode. They may once “Devices” under Settings allows it.'
  if (preview.channel === null) {
    const isRefusedKind = preview.refusal === 'InvalidRecipientError' && preview.recipient_type !== null
    const words = isRefusedKind ? undefined : REFUSALS[preview.refusal ?? '']
    return words ?? `A send is refused: ${preview.why}`
  }
  const isLink = preview.channel === 'whatsapp' && preview.whatsapp_mode !== 'template'
  return isLink
    ? 'The user gets a link to WhatsApp, and writes first.'
    : `The code goes by ${CHANNEL_NAMES[preview.channel]}.`
}

/** Whose order was used, and the country that was found. */
export function orderWords(
  { recipient_type, country, order }: RoutePreview,
  ownOrders: readonly string[],
): string | null {
  if (recipient_type === null) return null
  const names = order.map(channel => CHANNEL_NAMES[channel]).join(', ') || 'empty'
  if (recipient_type === 'email') return `It is an email address. The default order holds: ${names}.`
  if (country === null) return `It is a number of no country. The default order holds: ${names}.`
  const whose = ownOrders.includes(country) ? `${countryName(country)} has its own order` : 'The default order holds'
  return `It is a number of ${countryName(country)}. ${whose}: ${names}.`
}

/** The provider that gets a message first, in words. `usual`: the one that the API names; the first in the list without it. */
export function providerWords(
  channel: Channel,
  { mode }: Pick<Sender, 'mode'>,
  country: string | null,
  providers: readonly Pick<Schemas['Provider'], 'name' | 'channel' | 'position' | 'paused' | 'countries'>[],
  usual: string | null = null,
): string {
  if (mode === 'test') return 'the sandbox: test keys deliver into the inbox'
  const names = providers
    .filter(provider => provider.channel === channel && mayBeUsed(provider, country))
    .sort((one, other) => one.position - other.position || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name)
  const [first, ...others] = usual === null ? names : [usual, ...names.filter(name => name !== usual)]
  if (first === undefined) return 'no provider'
  return others.length === 0 ? first : `${first}; if it fails ${others.join(', then ')}`
}

/** Channels by their place; those that are left out last. */
export const byPlace = (channels: readonly ChannelChoice[]): ChannelChoice[] =>
  [...channels].sort((one, other) => (one.place ?? Infinity) - (other.place ?? Infinity))

/** Why this channel, or why not. */
export function verdictOf(choice: ChannelChoice, { channel: chosen, channels }: RoutePreview): string {
  if (choice.channel === chosen) return 'Used: the first of the order that can be used.'
  if (choice.reason !== null) return choice.reason
  const place = channels.find(({ channel }) => channel === chosen)?.place ?? null
  return place !== null && (choice.place ?? 0) > place
    ? `It could be used, but ${chosen ? CHANNEL_NAMES[chosen] : 'another'} comes first. A resend may take it.`
    : 'It could be used.'
}
