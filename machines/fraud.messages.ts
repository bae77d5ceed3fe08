// Which messages the fraud guard looks at, and which it counts. Pure.
import type { Delivery, Otp } from './otp.ts'

/** Whether a message can cost money without its recipient's doing. In the link modes of WhatsApp the user writes first, so a stranger cannot
 *  have replies sent to others: these are left to the spend caps. */
export const canCost = ({ channel }: Pick<Delivery, 'channel'>, { whatsapp }: Pick<Otp, 'whatsapp'>): boolean =>
  channel === 'sms' || channel === 'telegram' || (channel === 'whatsapp' && whatsapp === 'template')

/** The messages of a verification that can cost money, and those by email, which are counted only as traffic of the app's devices. A fallback
 *  that could not be paid was not sent. */
export const countedMessages = <Message extends Pick<Delivery, 'channel' | 'reason'>>(
  otp: Pick<Otp, 'whatsapp'> & { deliveries: readonly Message[] },
): Message[] =>
  otp.deliveries.filter(
    delivery => (delivery.channel === 'email' || canCost(delivery, otp)) && delivery.reason !== 'insufficient_funds',
  )
