// What a resend or a fallback needs from outside the machine. In: a verification and its app. Out: the channels that are usable now,
// their prices, a new delivery id and a new link.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Channel, Obstacle } from '../../../machines/channels.ts'
import type { Otp, ResendInputs } from '../../../machines/otp.ts'
import { obstacle, type ProviderScope, type RoutingInput, usableChannels } from '../../../machines/routing.ts'
import type { CachedApp } from '../apps.ts'
import type { Funds } from '../funds.ts'
import { linkFor } from '../whatsapp-links.ts'

export interface ResendInputsDeps {
  keyring: Keyring
  clock: Clock
  funds: Pick<Funds, 'pricesFor'>
}

export async function resendInputsFor(
  otp: Otp,
  app: CachedApp,
  { keyring, clock, funds }: ResendInputsDeps,
): Promise<ResendInputs> {
  return {
    usable: usableFor(otp, app, app.providers(otp.mode)),
    new_delivery_id: newId('dlv', clock.now()),
    link: linkFor(keyring, otp, app),
    prices: await funds.pricesFor(otp, otp.recipient),
  }
}

export const usableFor = (otp: Otp, app: CachedApp, providers: readonly ProviderScope[]): Channel[] =>
  usableChannels(routingInputOf(otp, app, providers))

/** Why the verification cannot be resent on this channel now; null when it can. */
export const obstacleFor = (otp: Otp, app: CachedApp, channel: Channel): Obstacle | null =>
  obstacle(channel, routingInputOf(otp, app, app.providers(otp.mode)))

const routingInputOf = (otp: Otp, { settings }: CachedApp, providers: readonly ProviderScope[]): RoutingInput => ({
  settings,
  recipient: otp.recipient.kind,
  number_kind: otp.recipient.number_kind,
  country: otp.recipient.country,
  providers,
  whatsapp: otp.whatsapp,
  caller: otp.started_by.kind,
})
