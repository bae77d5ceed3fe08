// Any gateway that takes JSON over HTTP, on any channel. In: a message, filled into the app's own body. Out: taken, if it answers 2xx.
// Its receipts come as our own webhooks go: signed with `secret`, and a body `{delivery_id, status}`.
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
      // A gateway we know nothing of has no word for a recipient's fault. Its 4xx is mostly about the config, and then the next
      // provider helps.
      // What it says of one request it does not say of all.
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

/** The interface's scheme (X-Webhook-Signature): hex HMAC-SHA256 of `{timestamp}.{raw body}`, the time in seconds. */
function isSigned({ headers, body }: Callback, secret: string, now: number): boolean {
  const { 'x-webhook-signature': signature, 'x-webhook-timestamp': timestamp } = headers
  if (signature === undefined || timestamp === undefined || !TIMESTAMP.test(timestamp)) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
  return isSameSecret(signature.toLowerCase(), expected) && isRecent(Number(timestamp) * 1000, now)
}
