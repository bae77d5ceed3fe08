// A route as text: the name of its counts in stored documents.
import type { Channel } from '../../../machines/channels.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import type { RouteKey } from '../../../machines/routes.ts'
import { NONE } from '../stats/counts.ts'

/** None of its parts has a space. */
export const routeName = ({ kind, channel, country, provider }: RouteKey): string =>
  `${kind} ${channel} ${country ?? NONE} ${provider}`

/** Null for the counts of routes that were too many to keep apart. */
export function routeOf(name: string): RouteKey | null {
  const [kind, channel, country, provider] = name.split(' ')
  if (kind === undefined || channel === undefined || country === undefined || provider === undefined) return null
  return {
    kind: kind as KeyKind,
    channel: channel as Channel,
    country: country === NONE ? null : country,
    provider,
  }
}
