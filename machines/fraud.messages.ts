// Which messages the fraud guard watches. Pure.
import type { Caller, Delivery, Otp } from './otp.ts'

/** Whether a message can cost money without its recipient's doing. In the link modes of WhatsApp the user writes first,
 *  so a stranger cannot have replies sent to others: these are left to the spend caps. */
const canCost = ({ channel }: Pick<Delivery, 'channel'>, { whatsapp }: Pick<Otp, 'whatsapp'>): boolean =>
  channel === 'sms' || channel === 'telegram' || (channel === 'whatsapp' && whatsapp === 'template')

/** What the guard asks about a verification. */
export type WatchedOtp = Pick<Otp, 'whatsapp'> & { started_by: Pick<Caller, 'kind'> }

/** A mail costs nothing, neither the app nor a stranger, who could use up with mails what all devices of the app may send. Those that a
 *  server starts its backend has decided on. */
export const isWatched = (message: Pick<Delivery, 'channel'>, otp: WatchedOtp): boolean =>
  message.channel === 'email' ? otp.started_by.kind === 'publishable' : canCost(message, otp)

/** The messages of a verification that the guard counts. A fallback that could not be paid was not sent. */
export const countedMessages = <Message extends Pick<Delivery, 'channel' | 'reason'>>(
  otp: WatchedOtp & { deliveries: readonly Message[] },
): Message[] => otp.deliveries.filter(message => isWatched(message, otp) && message.reason !== 'insufficient_funds')
