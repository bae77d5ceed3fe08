// The interface that every provider implements. In: a rendered message. Out: the vendor accepted it, or an error that says whose fault
// it is. Receipts come back through `parseCallback`. docs/adding-a-provider.md shows how to write one.
import type { Outcome } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import type { Trace } from '../../infra/trace.ts'
import type { OptOut } from '../../machines/opt-out.ts'
import type { Delivery, FailureReason, Otp, ReportedStatus } from '../../machines/otp.ts'
import type { MessageContent } from '../domain/verifications/message-content.ts'

/** One delivery of one verification, as it was read from the store. The recipient and the code's salt are
 *  sealed in it; the code is not in it, it is derived. */
export interface DeliveryJob {
  otp: Otp
  delivery: Delivery
  /** When everything that is stored about the verification is erased. */
  purge_at: Date
  /** The trace of the request that caused the delivery, for the log and for reports. Vendors do not get it. */
  trace?: Trace
}

/** What a provider is given to send. It holds the recipient and the code in the clear, and must not be stored or logged. */
export interface RenderedMessage extends MessageContent {
  delivery_id: string
  /** When the code expires. */
  expires_at: number
  /** The language of the text. */
  locale: string
  /** As the verification has it: it may name a region. */
  requested_locale: string
}

/** The message of a delivery that is stored, as call-provider.ts gives it to providers. Only the sandbox reads more of it than a vendor. */
export interface DeliveryMessage extends RenderedMessage {
  job: DeliveryJob
}

export interface Accepted {
  /** The vendor's own id of the message; null when the vendor gives none. */
  reference: string | null
  /** The status of the vendor's answer; absent where the vendor does not speak HTTP. */
  httpStatus?: number
}

/** What a vendor answered when it did not accept a message. Code and text are the vendor's own words and may repeat the recipient or the
 *  code: call-provider.ts hides both before it stores them, and the text is not logged. */
export interface VendorAnswer {
  /** Null where the vendor does not speak HTTP. */
  httpStatus: number | null
  vendorCode: string | null
  vendorText: string | null
}

/** Why a message that the vendor had accepted did not arrive, as its receipt says. The words are the vendor's own. */
export interface ReceiptFailure {
  reason: Extract<FailureReason, 'recipient_unreachable' | 'provider_failed' | 'superseded'>
  /** The recipient asked the vendor for no more messages. */
  unsubscribed?: true
  vendorCode: string | null
  vendorText: string | null
}

/** A vendor's HTTP request, unparsed: the vendor signs the exact bytes. */
export interface Callback {
  method: 'GET' | 'POST'
  /** The full address the vendor was given, `PUBLIC_URL` + path + query. */
  url: URL
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>
  body: Uint8Array
}

/** What a vendor's callback says, translated from the vendor's format. */
export type CallbackItem =
  /** Reports what happened to a message. Names it by our `delivery_id` if the vendor sends it back, otherwise by the vendor's `reference`.
   *  `failure` comes with `failed`; without it, the fault is the provider's. */
  | {
      kind: 'receipt'
      delivery_id: string | null
      reference: string | null
      status: ReportedStatus
      failure?: ReceiptFailure
    }
  /** A user wrote to us. `id` is the vendor's id of the message: two items with one id are one message. */
  | {
      kind: 'message'
      id: string
      /** Empty where WhatsApp hides the number. */
      from: string
      /** WhatsApp's id of the user; null where it is not given. */
      user_id: string | null
      text: string
      /** What the vendor says that the text asks for, by words of its own; absent where it says nothing. */
      optOut?: OptOut
    }
  /** A user whom `askForContact` has asked has shared a number, and the vendor says that it is the user's own. */
  | { kind: 'contact'; id: string; user_id: string; from: string }

export interface Provider {
  /** Throws `RecipientFault` or `ProviderFault` when the message was certainly not sent. Throws `UnknownOutcome`, or any error after
   *  `signal` was aborted, when it may have been sent. Any other error is a bug. */
  send(message: RenderedMessage, signal: AbortSignal): Promise<Accepted>
  /** True when sending one delivery twice does not reach the recipient twice. After an unknown outcome the call is then
   *  repeated at once. */
  readonly repeatable?: true
  /** Checks the vendor's signature, then parses the callback. Throws `BadSignature`, or `BadCallback` when a signed callback cannot be
   *  parsed. Returns an empty list for a signed callback that does not concern us. Leave the method out when the vendor does not call
   *  back, or when the config has no secret to check the signature with: no receipt is waited for then. */
  parseCallback?(callback: Callback, now: number): readonly CallbackItem[]
  /** Gets what the check of a callback's signature needs, such as a certificate, before `parseCallback`. The callback may be anyone's. The
   *  router responds 503 when it throws, so that the vendor calls again. */
  prepareCallback?(callback: Callback, now: number): Promise<void>
  /** Meta's GET handshake: returns the text to respond with, or null to refuse. */
  answerHandshake?(query: URLSearchParams): string | null
  /** Replies to a user in the chat (WhatsApp's link modes) with the text of the message, under the same rules as `send`. */
  reply?(message: RenderedMessage, signal: AbortSignal): Promise<Accepted>
  /** Asks a user who hides their number for it (WhatsApp's link modes), under the same rules as `send`. The message's recipient is the id
   *  that WhatsApp gives the user. */
  askForContact?(message: DeliveryMessage, signal: AbortSignal): Promise<Accepted>
  /** Only the sandbox has it, since no vendor calls back for it: publishes the receipts of a message accepted at `sentAt`. The broker
   *  keeps the message until the outcome is `done`. A repeated call starts from the first receipt. */
  simulateReceipts?(job: DeliveryJob, sentAt: number): Promise<Outcome>
  /** Closes pooled connections after the setup has changed or the channel has stopped. Calls in progress are finished first. */
  close?(): void
}

/** What every provider is created with, beside its own config. */
export interface ProviderDeps {
  outbound: Outbound
  clock: Clock
  /** The address for the vendor's callbacks, without a query: `PUBLIC_URL/callbacks/{app_id}/{name}`. Null when `PUBLIC_URL` is not set. */
  callbackUrl: string | null
}

export interface FaultOptions {
  /** What the vendor answered; absent when there was no answer. */
  answer?: VendorAnswer
  cause?: unknown
}

/** Why a call did not have the message sent. The message of the error is logged, so it holds nothing of the vendor's text. */
export abstract class Fault extends Error {
  readonly answer: VendorAnswer | null
  constructor(message: string, { answer, ...options }: FaultOptions = {}) {
    super(message, options)
    this.answer = answer ?? null
  }
}

/** The vendor says that this recipient cannot be reached. No other provider is tried. */
export class RecipientFault extends Fault {
  override name = 'RecipientFault'
}

/** The vendor says that the recipient asked it for no more messages. */
export class UnsubscribedFault extends RecipientFault {
  override name = 'UnsubscribedFault'
}

/** The provider did not accept the message. The next provider is tried. */
export class ProviderFault extends Fault {
  override name = 'ProviderFault'
  /** How long the vendor asked us not to call (429 with Retry-After); null when it did not say. */
  readonly retryAfterMs: number | null
  constructor(
    message: string,
    { retryAfterMs = null, ...options }: FaultOptions & { retryAfterMs?: number | null } = {},
  ) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** The provider does not send to this destination (a country, a route, a test list), but works for others. The next provider is tried. It
 *  does not count for the circuit breaker: otherwise requests for such numbers would shut the provider for everyone. */
export class DestinationFault extends ProviderFault {
  override name = 'DestinationFault'
}

/** The message may or may not have been sent: the answer was cut off or cannot be parsed. */
export class UnknownOutcome extends Fault {
  override name = 'UnknownOutcome'
}

/** The callback is not signed by the vendor. The router responds 401. */
export class BadSignature extends Error {
  override name = 'BadSignature'
}

/** The callback is signed by the vendor but does not match the vendor's documentation. The router responds 400. */
export class BadCallback extends Error {
  override name = 'BadCallback'
}

/** How long a vendor may try to deliver a message, in seconds: until its code expires, within the bounds that the vendor accepts. A message
 *  that is still in the vendor's queue by then is not sent. */
export const codeValiditySeconds = (
  expires_at: number,
  now: number,
  { min, max }: { min: number; max: number },
): number => Math.min(Math.max(Math.ceil((expires_at - now) / 1000), min), max)
