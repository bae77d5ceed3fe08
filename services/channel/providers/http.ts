// Any gateway that takes JSON over HTTP, on any channel. In: a message, filled into the body that the app configured. Out: accepted, if the
// gateway answers 2xx. Receipts have the body `{delivery_id, status}` and are signed like our own webhooks, with `secret`.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import { BadSignature, type Callback, type Provider, type ProviderDeps, type RenderedMessage } from '../provider.ts'
import { type BodyValues, fillBody } from './http.body.ts'
import { isRecent, parseCallbackBody } from './signed-callbacks.ts'
import { callVendor, faultFromStatus, isSuccess } from './vendor-http.ts'

export function createHttpProvider(
  { config }: { config: ProviderConfigs['http'] },
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
      return { reference: null }
    },
  }
  if (secret === null) return provider
  return {
    ...provider,
    parseCallback(callback, now) {
      if (!isSigned(callback, secret, now)) throw new BadSignature()
      const { delivery_id, status } = parseCallbackBody(RECEIPT, callback.body)
      return [{ kind: 'receipt', delivery_id, reference: null, status }]
    },
  }
}

const bodyValues = ({ recipient, text, code, job }: RenderedMessage): BodyValues => ({
  recipient,
  text,
  code,
  delivery_id: job.delivery.delivery_id,
})

const withLowerCaseNames = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const RECEIPT = z.object({ delivery_id: z.string().min(1).max(200), status: z.enum(['sent', 'delivered', 'failed']) })

const TIMESTAMP = /^\d{1,12}$/

/** The signature of our own webhooks: hex HMAC-SHA256 of `{timestamp}.{raw body}`, the timestamp in seconds. */
function isSigned({ headers, body }: Callback, secret: string, now: number): boolean {
  const { 'x-webhook-signature': signature, 'x-webhook-timestamp': timestamp } = headers
  if (signature === undefined || timestamp === undefined || !TIMESTAMP.test(timestamp)) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
  return isSameSecret(signature.toLowerCase(), expected) && isRecent(Number(timestamp) * 1000, now)
}
