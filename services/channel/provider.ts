// What a channel needs of a provider, and all of it: take one rendered message, or say whose fault it is that it was not taken.
import type { Outcome } from '../../infra/broker/broker.ts'
import type { Content } from '../../infra/otps/rendering.ts'
import type { Delivery, Otp } from '../../machines/otp.ts'

/** One delivery of one verification, as it was read just now. Nothing in it is in the clear. */
export interface Errand {
  otp: Otp
  delivery: Delivery
  /** When all that is kept of it is erased. */
  purge_at: Date
}

/** What a provider is handed. It holds the recipient and the code: it is never stored or logged. */
export interface Rendered extends Content {
  errand: Errand
  locale: string
}

export interface Accepted {
  /** The vendor's own name for the message; null where it gives none. */
  reference: string | null
}

export interface Provider {
  /** Throws `RecipientFault` or `ProviderFault` when the message certainly did not go. Once `signal` has aborted the outcome is
   *  unknown: the message may have gone. Anything else thrown is a bug. */
  send(message: Rendered, signal: AbortSignal): Promise<Accepted>
  /** Sending one delivery twice reaches nobody twice. Only then may a call whose outcome is unknown be made again. */
  readonly repeatable?: true
  /** For a provider without a vendor that would call us back: plays the receipts of what it took at `sentAt`. The broker keeps
   *  the message until the outcome is `done`; called again, it begins anew. */
  receipts?(errand: Errand, sentAt: number): Promise<Outcome>
}

/** The vendor says that this recipient cannot be reached: no other provider would do better. */
export class RecipientFault extends Error {
  override name = 'RecipientFault'
}
/** The provider did not take the message; another may. */
export class ProviderFault extends Error {
  override name = 'ProviderFault'
}
