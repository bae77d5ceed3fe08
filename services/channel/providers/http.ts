// Any gateway that takes JSON over HTTP, on any channel. In: a message, filled into the body that the app configured. Out: accepted, if the
// gateway answers 2xx. Receipts have the body `{delivery_id, status}`, may say why a message failed, and are signed like our own webhooks,
// with `secret`.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { Json } from '../../domain/tenancy/provider-types/declaration.ts'
import { PLACEHOLDERS } from '../../domain/tenancy/provider-types/http.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import {
  BadSignature,
  type Callback,
  type Provider,
  type ProviderDeps,
  type ReceiptFailure,
  type RenderedMessage,
} from '../provider.ts'
import { isRecentTimestamp, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import { callVendor, faultFromStatus, isSuccess } from './vendor-http.ts'

export function createHttpProvider(
  { config, channel }: { config: ProviderConfigs['http']; channel: Channel },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
): Provider {
  const { url, method, body, secret } = config
  const headers = { 'content-type': 'application/json', ...withLowerCaseNames(config.headers) }

  const provider: Provider = {
    async send(message, signal) {
      const filledBody = JSON.stringify(fillBody(body, bodyValues(message)))
      const answer = await callVendor(outbound, { method, url, headers, body: filledBody, signal })
      // An unknown gateway has no agreed answer for a recipient's fault. A 4xx is mostly about the config, so the next provider is tried.
      // 400, 404 and 422 may concern this one message, so they do not count for the circuit breaker.
      const about = [400, 404, 422].includes(answer.status) ? 'destination' : 'provider'
      if (!isSuccess(answer)) throw faultFromStatus(answer, clock.now(), undefined, about)
      return { reference: null, httpStatus: answer.status }
    },
  }
  if (secret === null) return provider
  return {
    ...provider,
    parseCallback(callback, now) {
      if (!isSigned(callback, secret, now)) throw new BadSignature()
      const receipt = parseCallbackBody(RECEIPT, callback.body)
      const { delivery_id, status } = receipt
      return receiptItems({ delivery_id, reference: null }, status, () => failureOf(receipt, channel))
    },
  }
}

type BodyValues = Record<keyof typeof PLACEHOLDERS, string>

const bodyValues = ({ recipient, text, code, delivery_id }: RenderedMessage): BodyValues => ({
  recipient,
  text,
  code,
  delivery_id,
})

const PLACEHOLDER = new RegExp(`\\{\\{(${Object.keys(PLACEHOLDERS).join('|')})\\}\\}`, 'g')

/** Puts values in place of the placeholders in the strings of the configured body. One pass only: a value that looks
 *  like a placeholder stays as it is. The result is serialized afterwards, so a value cannot break out of its string. */
export function fillBody(body: Json, values: BodyValues): Json {
  if (typeof body === 'string') return body.replace(PLACEHOLDER, (_, name: keyof BodyValues) => values[name])
  if (Array.isArray(body)) return body.map(item => fillBody(item, values))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillBody(value, values)]))
}

const withLowerCaseNames = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** A member that says why is dropped when it is not understood: the status counts. */
const RECEIPT = z.object({
  delivery_id: z.string().min(1).max(200),
  status: z.enum(['sent', 'delivered', 'failed']),
  reason: z.enum(['recipient_unreachable', 'provider_failed']).optional().catch(undefined),
  vendor_code: z.string().optional().catch(undefined),
  vendor_text: z.string().optional().catch(undefined),
})

/** A text about a mailbox may name its user without the domain. A receipt does not say who that is, so the text is not kept. */
const failureOf = (
  { reason, vendor_code, vendor_text }: z.infer<typeof RECEIPT>,
  channel: Channel,
): ReceiptFailure => ({
  reason: reason ?? 'provider_failed',
  vendorCode: vendor_code ?? null,
  vendorText: channel === 'email' ? null : (vendor_text ?? null),
})

/** The signature of our own webhooks: hex HMAC-SHA256 of `{timestamp}.{raw body}`, the timestamp in seconds. */
function isSigned({ headers, body }: Callback, secret: string, now: number): boolean {
  const { 'x-webhook-signature': signature, 'x-webhook-timestamp': timestamp } = headers
  if (signature === undefined || timestamp === undefined || !isRecentTimestamp(timestamp, now)) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
  return isSameSecret(signature.toLowerCase(), expected)
}
