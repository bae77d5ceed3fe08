// What a move to another channel needs from outside the machine: which channels are usable now and what they cost, and
// ids nobody has seen.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import type { Channel } from '../../machines/channels.ts'
import type { Fresh, Otp } from '../../machines/otp.ts'
import { usableChannels } from '../../machines/routing.ts'
import type { KnownApp } from './apps.ts'
import { linkFor } from './links.ts'
import type { Funds } from './money/funds.ts'

export interface FreshParts {
  keyring: Keyring
  clock: Clock
  funds: Pick<Funds, 'pricesFor'>
}

export async function freshFor(otp: Otp, app: KnownApp, { keyring, clock, funds }: FreshParts): Promise<Fresh> {
  return {
    usable: usableFor(otp, app, app.provided(otp.mode)),
    delivery_id: newId('dlv', clock.now()),
    link: linkFor(keyring, otp, app),
    prices: await funds.pricesFor(otp.mode, otp.recipient),
  }
}

export const usableFor = (otp: Otp, { settings }: KnownApp, provided: readonly Channel[]): Channel[] =>
  usableChannels({
    settings,
    recipient: otp.recipient.kind,
    provided,
    whatsapp: otp.whatsapp,
    caller: otp.started_by.kind,
  })
