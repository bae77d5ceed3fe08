// What a resend or a fallback needs from outside the machine. In: a verification and its app. Out: the channels that are usable now,
// their prices, a new delivery id and a new link.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Channel, Obstacle } from '../../../machines/channels.ts'
import type { Otp, ResendInputs } from '../../../machines/otp.ts'
import { obstacle, type ProviderScope, type RoutingInput, usableChannels } from '../../../machines/routing.ts'
import type { OptOuts } from '../../domain/recipients/opt-outs.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import type { CachedApp } from '../apps.ts'
import type { Funds } from '../funds.ts'
import { linkFor } from '../whatsapp-links.ts'

export interface ResendInputsDeps {
  keyring: Keyring
  clock: Clock
  funds: Pick<Funds, 'pricesFor'>
  optOuts: Pick<OptOuts, 'stoppedChannels'>
}

/** The channels on which the recipient asked for no more messages since, or before. None for a verification that is blocked as
 *  a whole: its device is told nothing of it, and its messages are not sent. */
export async function stoppedFor(
  otp: Otp,
  { keyring, optOuts }: Pick<ResendInputsDeps, 'keyring' | 'optOuts'>,
): Promise<readonly Channel[]> {
  if (otp.recipient.kind !== 'phone' || otp.circumstances?.blocked) return []
  return optOuts.stoppedChannels(otp, keyring.unseal(otp.recipient.sealed, atRest.recipient(otp.otp_id)))
}

export async function resendInputsFor(
  otp: Otp,
  app: CachedApp,
  stopped: readonly Channel[],
  { keyring, clock, funds }: Pick<ResendInputsDeps, 'keyring' | 'clock' | 'funds'>,
): Promise<ResendInputs> {
  return {
    usable: usableFor(otp, app, app.providers(otp.mode), stopped),
    new_delivery_id: newId('dlv', clock.now()),
    link: linkFor(keyring, otp, app),
    prices: await funds.pricesFor(otp, otp.recipient),
  }
}

export const usableFor = (
  otp: Otp,
  app: CachedApp,
  providers: readonly ProviderScope[],
  stopped: readonly Channel[],
): Channel[] => usableChannels(routingInputOf(otp, app, providers, stopped))

/** Why the verification cannot be resent on this channel now; null when it can. */
export const obstacleFor = (otp: Otp, app: CachedApp, channel: Channel, stopped: readonly Channel[]): Obstacle | null =>
  obstacle(channel, routingInputOf(otp, app, app.providers(otp.mode), stopped))

const routingInputOf = (
  otp: Otp,
  { settings }: CachedApp,
  providers: readonly ProviderScope[],
  stopped: readonly Channel[],
): RoutingInput => ({
  settings,
  recipient: otp.recipient.kind,
  number_kind: otp.recipient.number_kind,
  country: otp.recipient.country,
  providers,
  whatsapp: otp.whatsapp,
  caller: otp.started_by.kind,
  code_length: 'length' in otp.code ? otp.code.length : null,
  stopped,
})
