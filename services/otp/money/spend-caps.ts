// How much an app may spend on a country in a day. In: a delivery and the app's caps. Out: the cap that applies, if there is one.
import type { Refusal } from '../../../machines/calls.ts'
import type { Delivery, Otp, Recipient } from '../../../machines/otp.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { capKey, endOfDay, type SpendCap } from '../../domain/money/spend-caps.ts'
import { limitRefusal } from '../refusals.ts'

const OTHER_COUNTRIES = '*'

export function spendCapFor(
  { app_id, recipient }: Otp,
  { created_at }: Delivery,
  { spend_caps }: Pick<AppSettings, 'spend_caps'>,
): SpendCap | undefined {
  const limit = capMicros(spend_caps, recipient)
  if (limit === undefined) return undefined
  return { key: capKey(app_id, recipient.country ?? OTHER_COUNTRIES, created_at), limit }
}

export const spendCapRefusal = ({ created_at }: Delivery): Refusal =>
  limitRefusal('spend_cap', endOfDay(created_at) - created_at)

/** Numbers without a country fall under `*`. Email addresses have no cap. */
const capMicros = (caps: AppSettings['spend_caps'], { kind, country }: Recipient): number | undefined =>
  kind === 'email' ? undefined : ((country === null ? undefined : caps[country]) ?? caps[OTHER_COUNTRIES])
