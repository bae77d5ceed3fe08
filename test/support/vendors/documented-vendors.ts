// Vendors whose documents are cases of documented-vendors.test.ts: every file in the folder of that name is one, so no list names them.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Outbound } from '../../../infra/outbound/outbound.ts'
import { PROJECT_ROOT } from '../../../infra/web/built-site.ts'
import type { CallbackItem, RenderedMessage } from '../../../services/channel/provider.ts'
import type { ProviderConfigs, ProviderType } from '../../../services/domain/tenancy/provider-types/list.ts'
import { compiledFile } from '../compiled.ts'
import type { Refusal } from './fault-cases.ts'
import type { Answer, VendorCallback } from './vendor.ts'

/** What a vendor's documents say. */
export interface VendorCase<T extends ProviderType = ProviderType> {
  type: T
  /** Every member but the address. */
  config: Omit<ProviderConfigs[T], 'base_url'>
  /** Answers calls that go elsewhere than to the address. */
  wrapOutbound?(outbound: Outbound): Outbound
  /** Members without which no receipt can be checked. */
  withoutReceipts: object
  /** Parts of the config that must not be in an error. */
  secrets: readonly string[]
  message?: Partial<RenderedMessage>
  /** The request for DELIVERY_ID. */
  request: { path: string; headers: Record<string, string | RegExp>; body: object }
  accepted: { answer: Answer; reference: string }
  /** The first is the recipient's fault, where the vendor has such an answer. */
  refusals: readonly Refusal[]
  /** The answer with an error code that the type declares. */
  answerWith(code: string): Answer
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

const FOLDER = 'test/services/channel/providers/documented-vendors'

/** By the names of the sources: a compiled file may be left of a source that is gone. */
export const DOCUMENTED_VENDORS: readonly VendorCase[] = await Promise.all(
  readdirSync(join(PROJECT_ROOT, FOLDER)).map(async file => {
    const compiled = pathToFileURL(join(PROJECT_ROOT, compiledFile(`${FOLDER}/${file}`)))
    return ((await import(compiled.href)) as { CASE: VendorCase }).CASE
  }),
)
