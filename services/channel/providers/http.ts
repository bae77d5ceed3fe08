// Any gateway that takes JSON over HTTP, on any channel. In: a message, filled into the app's own body. Out: taken, if it answers 2xx.
// Its receipts come as our own webhooks go: signed with `secret`, and a body `{delivery_id, status}`.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { equal } from '../../../infra/crypto/compare.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import { BadSignature, type Callback, type Provider, type Rendered, type Tools } from '../provider.ts'
import { ask, faultOf, isSuccess } from './answers.ts'
import { isFresh, readCallback } from './callbacks.ts'
import { type Filling, filled } from './http.body.ts'

export function http(
  { config }: { config: ProviderConfigs['http'] },
  { outbound, clock }: Pick<Tools, 'outbound' | 'clock'>,
): Provider {
  const { url, method, body, secret } = config
  const headers = { 'content-type': 'application/json', ...lowerCased(config.headers) }

  const provider: Provider = {
    async send(message, signal) {
      const filledBody = JSON.stringify(filled(body, fillingOf(message)))
      const answer = await ask(outbound, { method, url, headers, body: filledBody, signal })
      // A gateway we know nothing of has no word for a recipient's fault. Its 4xx is mostly about the config, and then the next
      // provider helps.
      // What it says of one request it does not say of all.
      const about = [400, 404, 422].includes(answer.status) ? 'destination' : 'provider'
      if (!isSuccess(answer)) throw faultOf(answer, clock.now(), undefined, about)
      return { reference: null }
    },
  }
  if (secret === null) return provider
  return {
    ...provider,
    hear(callback, now) {
      if (!isSigned(callback, secret, now)) throw new BadSignature()
      const { delivery_id, status } = readCallback(RECEIPT, callback.body)
      return [{ kind: 'receipt', delivery_id, reference: null, status }]
    },
  }
}

const fillingOf = ({ recipient, text, code, errand }: Rendered): Filling => ({
  ...{ recipient, text, code },
  delivery_id: errand.delivery.delivery_id,
})

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const RECEIPT = z.object({ delivery_id: z.string().min(1).max(200), status: z.enum(['sent', 'delivered', 'failed']) })

const TIMESTAMP = /^\d{1,12}$/

/** The interface's scheme (X-Webhook-Signature): hex HMAC-SHA256 of `{timestamp}.{raw body}`, the time in seconds. */
function isSigned({ headers, body }: Callback, secret: string, now: number): boolean {
  const { 'x-webhook-signature': signature, 'x-webhook-timestamp': timestamp } = headers
  if (signature === undefined || timestamp === undefined || !TIMESTAMP.test(timestamp)) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
  return equal(signature.toLowerCase(), expected) && isFresh(Number(timestamp) * 1000, now)
}
