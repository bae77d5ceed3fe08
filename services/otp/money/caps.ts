// What an app lets be spent on a country in a day. In: a delivery and its price. Out: the room it needs below the cap, if there is one.

import type { Refusal } from '../../../machines/calls.ts'
import type { Delivery, Otp, Recipient } from '../../../machines/otp.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { endOfDay, type Room, roomKey } from '../../domain/money/room.ts'
import { limited } from '../refusals.ts'

const OTHERS = '*'

export function roomFor(
  { app_id, recipient }: Otp,
  { created_at }: Delivery,
  { spend_caps }: Pick<AppSettings, 'spend_caps'>,
): Room | undefined {
  const most = capOf(spend_caps, recipient)
  if (most === undefined) return undefined
  return { key: roomKey(app_id, recipient.country ?? OTHERS, created_at), most }
}

export const capped = ({ created_at }: Delivery): Refusal => limited('spend_cap', endOfDay(created_at) - created_at)

/** Numbers of no country are among the others; mail is of no country at all. */
const capOf = (caps: AppSettings['spend_caps'], { kind, country }: Recipient): number | undefined =>
  kind === 'email' ? undefined : ((country === null ? undefined : caps[country]) ?? caps[OTHERS])
