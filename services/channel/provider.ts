// What a channel needs of a provider, and all of it: take one rendered message, or say whose fault it is that it was not taken.
import type { Outcome } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import type { Delivery, Otp, ReportedStatus } from '../../machines/otp.ts'
import type { Content } from '../domain/verifications/message-content.ts'

/** One delivery of one verification, as it was read just now. Nothing in it is in the clear. */
export interface DeliveryJob {
  otp: Otp
  delivery: Delivery
  /** When all that is kept of it is erased. */
  purge_at: Date
}

/** What a provider is handed. It holds the recipient and the code: it is never stored or logged. */
export interface RenderedMessage extends Content {
  job: DeliveryJob
  locale: string
}

export interface Accepted {
  /** The vendor's own name for the message; null where it gives none. */
  reference: string | null
}

/** A vendor's HTTP request as it came in: signatures are over exact bytes. */
export interface Callback {
  method: 'GET' | 'POST'
  /** The full address the vendor was given, `PUBLIC_URL` + path + query. */
  url: URL
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>
  body: Uint8Array
}

/** What a vendor's callback says, in our words. */
export type CallbackItem =
  /** What became of a message. Named by our `delivery_id` where the vendor carries it, else by the vendor's own `reference`. */
  | { kind: 'receipt'; delivery_id: string | null; reference: string | null; status: ReportedStatus }
  /** A user wrote to us. `id` is the vendor's name for the message: heard twice, it is one message. */
  | { kind: 'message'; id: string; from: string; text: string }

export interface Provider {
  /** Throws `RecipientFault` or `ProviderFault` when the message certainly did not go. Throws `UnknownOutcome`, or anything at all
   *  once `signal` has aborted, when it may have gone. Anything else thrown is a bug. */
  send(message: RenderedMessage, signal: AbortSignal): Promise<Accepted>
  /** Sending one delivery twice reaches nobody twice. Only then may a call whose outcome is unknown be made again. */
  readonly repeatable?: true
  /** Checks the vendor's signature, then reads the callback; absent where the vendor never calls, or the config holds no secret to
   *  check it with: then nobody waits for a receipt. Throws `BadSignature`, or `BadCallback` when a signed one cannot be read. What is signed
   *  and of no interest is an empty list. */
  parseCallback?(callback: Callback, now: number): readonly CallbackItem[]
  /** Meta's GET handshake: the text to answer, or null when it is refused. */
  answerHandshake?(query: URLSearchParams): string | null
  /** Answers a user in the chat (WhatsApp's link modes), under the same rules as `send`. `delivery_id` comes back with receipts, where
   *  the vendor carries it; what is said out of courtesy has none. */
  reply?(to: string, text: string, signal: AbortSignal, delivery_id?: string): Promise<Accepted>
  /** For a provider without a vendor that would call us back: plays the receipts of what it took at `sentAt`. The broker keeps
   *  the message until the outcome is `done`; called again, it begins anew. */
  simulateReceipts?(job: DeliveryJob, sentAt: number): Promise<Outcome>
  /** Lets go of what it holds (pooled connections), once its setup has changed or the channel stops. Calls under way are finished. */
  close?(): void
}

/** What every provider is made with, beside its own config. */
export interface ProviderDeps {
  outbound: Outbound
  clock: Clock
  /** Where this provider's vendor may call us, without a query: `PUBLIC_URL/callbacks/{app_id}/{name}`. Null without a `PUBLIC_URL`. */
  callbackUrl: string | null
}

/** The vendor says that this recipient cannot be reached: no other provider would do better. */
export class RecipientFault extends Error {
  override name = 'RecipientFault'
}
/** The provider did not take the message; another may. */
export class ProviderFault extends Error {
  override name = 'ProviderFault'
  /** How long the vendor asked to be left alone (429 with Retry-After); null when it did not say. */
  readonly retryAfterMs: number | null
  constructor(
    message: string,
    { retryAfterMs = null, ...options }: { retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}
/** It does not send to this destination (a country, a route, a test list). Another may, and others' messages it would take: it is no sign
 *  that the provider is in trouble, or anyone could shut it by asking for such numbers. */
export class DestinationFault extends ProviderFault {
  override name = 'DestinationFault'
}
/** The message may or may not have gone: an answer that was cut off, or that says nothing. */
export class UnknownOutcome extends Error {
  override name = 'UnknownOutcome'
}
/** 401, and nothing changed. */
export class BadSignature extends Error {
  override name = 'BadSignature'
}
/** Signed by the vendor, and not what its documentation describes: 400. */
export class BadCallback extends Error {
  override name = 'BadCallback'
}
