// What a vendor's documents say, as a case of documented-vendors.test.ts.
import type {
  CallbackItem,
  Fault,
  Provider,
  ProviderDeps,
  RenderedMessage,
} from '../../../../../services/channel/provider.ts'
import type { Answer, VendorCallback } from '../../../../support/vendors/vendor.ts'

export interface VendorCase {
  name: string
  /** With every member of the config. `over` replaces some. */
  create(base_url: string, deps: ProviderDeps, over?: object): Provider
  /** Members without which no receipt can be checked. */
  withoutReceipts: object
  /** Parts of the config that must not be in an error. */
  secrets: readonly string[]
  message?: Partial<RenderedMessage>
  /** The request for DELIVERY_ID. */
  request: { path: string; headers: Record<string, string | RegExp>; body: object }
  accepted: { answer: Answer; reference: string }
  /** The first is the recipient's fault, where the vendor has such an answer. */
  refusals: readonly [Answer, new (...args: never[]) => Fault, message: string][]
  receipts: {
    /** Signs a body at a time. */
    sign(body: string, now: number): VendorCallback
    /** How far a signature's time may be off; missing where there is none. */
    toleranceMs?: number
    /** Whether the signature covers the body. */
    coversBody: boolean
    /** Bodies from the vendor's documents, with our delivery id in place of the example's. */
    bodies: readonly [name: string, body: unknown, items: CallbackItem[]][]
  }
}
