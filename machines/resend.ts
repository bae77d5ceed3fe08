// When a verification can be resent (the cooldown), and to which channel. In: the verification, the channels that are usable now.
// Out: a time, or a target. The rows for `otp.resend` in otp.machine.ts say in which order these rules are asked.
import type { Channel } from './channels.ts'
import { statusAt } from './otp.code-life.ts'
import { isMessage, sendsLeft } from './otp.queries.ts'
import type { Otp, SavedStatus } from './otp.ts'

type SentState = Pick<Otp, 'sends' | 'last_sent_at'> & { rules: Pick<Otp['rules'], 'cooldowns_ms'> }

/** When the cooldown after the latest send ends. The cooldowns come from the app's setting `resend_cooldown_seconds`. */
export function cooldownEndsAt(otp: SentState): number {
  const { cooldowns_ms } = otp.rules
  const cooldown = cooldowns_ms[Math.min(otp.sends, cooldowns_ms.length) - 1] ?? 0
  return otp.last_sent_at + cooldown
}

export const isCoolingDown = (otp: SentState, at: number): boolean => at < cooldownEndsAt(otp)

/** The earliest time of the next resend; null when no further resend is possible. */
export const resendAt = (value: SavedStatus, otp: Otp, at: number): number | null =>
  statusAt(value, otp, at) === 'pending' && sendsLeft(otp) > 0 && !isMessage(otp) ? cooldownEndsAt(otp) : null

export type ResendTarget =
  | { kind: 'impossible' }
  /** The verification waits on a wa.me link, so the caller gets the same link again. */
  | { kind: 'same_link' }
  | { kind: 'to'; channel: Channel; newGeneration: boolean }

/** `link`: null unless it waits on a wa.me link. */
export type ResendState = Pick<Otp, 'order' | 'whatsapp' | 'channel' | 'tried'> & { link: unknown }

export function resendTarget(
  otp: ResendState,
  usable: readonly Channel[],
  requestedChannel: Channel | null,
): ResendTarget {
  if (requestedChannel !== null)
    return usable.includes(requestedChannel)
      ? { kind: 'to', channel: requestedChannel, newGeneration: true }
      : { kind: 'impossible' }
  if (otp.link !== null) return { kind: 'same_link' }
  const candidates = candidateChannels(otp, usable)
  // The current channel may be one that was named and is not in the order. If no channel of the order is usable, it is used again.
  const channel = nextChannel(otp, candidates) ?? candidates.at(-1) ?? usable.find(one => one === otp.channel)
  return channel === undefined ? { kind: 'impossible' } : { kind: 'to', channel, newGeneration: false }
}

/** The channel on which a failed delivery is sent again without a caller. It is always a later one of the order, and never a wa.me
 *  link: no caller is there to show the link to the user. */
export function fallbackChannel(otp: ResendState, usable: readonly Channel[]): Channel | undefined {
  if (otp.link !== null) return undefined
  const sendable = usable.filter(channel => channel !== 'whatsapp' || otp.whatsapp === 'template')
  return nextChannel(otp, candidateChannels(otp, sendable))
}

/** In a link mode, a resend without a named channel skips WhatsApp, unless WhatsApp is the first usable channel of the order. */
function candidateChannels(otp: ResendState, usable: readonly Channel[]): Channel[] {
  const candidates = otp.order.filter(channel => usable.includes(channel))
  const skipsWhatsApp = otp.whatsapp !== 'template' && candidates[0] !== 'whatsapp'
  return skipsWhatsApp ? candidates.filter(channel => channel !== 'whatsapp') : candidates
}

/** The next candidate after the current channel; from a channel outside the order, the first one not tried yet. */
function nextChannel(otp: ResendState, candidates: readonly Channel[]): Channel | undefined {
  const position = otp.order.indexOf(otp.channel)
  if (position < 0) return candidates.find(channel => !otp.tried.includes(channel))
  return candidates.find(channel => otp.order.indexOf(channel) > position)
}
