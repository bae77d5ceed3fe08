// Where a resend goes. In: the order fixed at send, what is usable now, where the verification stands. Out: a move.
import type { Channel } from './channels.ts'
import type { Otp } from './otp.ts'

export type ResendTarget =
  | { kind: 'impossible' }
  /** The verification waits on a wa.me link: the same one again. */
  | { kind: 'same_link' }
  | { kind: 'to'; channel: Channel; newGeneration: boolean }

type ResendState = Pick<Otp, 'order' | 'whatsapp' | 'channel' | 'tried' | 'link'>

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
  // With nothing of the order usable, a named channel outside it may still be: then it is the last usable one.
  const channel = nextChannel(otp, candidates) ?? candidates.at(-1) ?? usable.find(one => one === otp.channel)
  return channel === undefined ? { kind: 'impossible' } : { kind: 'to', channel, newGeneration: false }
}

/** Where a failed delivery goes on by itself: forward only, and never onto a link nobody would open. */
export function fallbackChannel(otp: ResendState, usable: readonly Channel[]): Channel | undefined {
  if (otp.link !== null) return undefined
  const sendable = usable.filter(channel => channel !== 'whatsapp' || otp.whatsapp === 'template')
  return nextChannel(otp, candidateChannels(otp, sendable))
}

/** In a link mode a plain resend skips WhatsApp, unless WhatsApp is where the order begins. */
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
