// A complete provider for a vendor that does not exist. In the tree it would be services/channel/providers/acme.ts.
// In: a message. Out: the id that Acme gave it. Acme calls back with the `tag` of the message, which is our delivery id.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../infra/crypto/compare-secrets.ts'
import { BadSignature, type Provider, type ProviderDeps, RecipientFault } from '../../services/channel/provider.ts'
import { parseCallbackBody } from '../../services/channel/providers/signed-callbacks.ts'
import {
  callVendor,
  faultFromStatus,
  isSuccess,
  successWithoutId,
  vendorAnswer,
} from '../../services/channel/providers/vendor-http.ts'

export interface AcmeConfig {
  key: string
  base_url: string
}

const ACCEPTED = z.object({ id: z.string() })
const ERROR_BODY = z.object({ error: z.literal('no_such_number') })
const RECEIPT = z.object({ id: z.string(), tag: z.string(), event: z.string(), cause: z.string().optional() })

export function createAcmeProvider(
  { config }: { config: AcmeConfig },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { key, base_url } = config
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

  const provider: Provider = {
    async send({ recipient, text, job }, signal) {
      const { delivery_id: tag } = job.delivery
      const body = JSON.stringify({ to: recipient, text, tag, notify: callbackUrl })
      const answer = await callVendor(outbound, { method: 'POST', url: `${base_url}/messages`, headers, body, signal })
      if (isSuccess(answer)) {
        const accepted = ACCEPTED.safeParse(answer.json)
        if (accepted.success) return { reference: accepted.data.id, httpStatus: answer.status }
        throw successWithoutId(answer)
      }
      // The answer's code and text are stored without the recipient. The error's message is logged.
      if (ERROR_BODY.safeParse(answer.json).success)
        throw new RecipientFault('no such number', { answer: vendorAnswer(answer, 'no_such_number') })
      throw faultFromStatus(answer, clock.now())
    },
  }
  // Without an address Acme does not call back. Without `parseCallback`, Countersign does not wait for a receipt.
  if (callbackUrl === null) return provider
  return {
    ...provider,
    parseCallback({ headers: given, body }) {
      const expected = createHmac('sha256', key).update(body).digest('hex')
      if (!isSameSecret(given['acme-signature'] ?? '', expected)) throw new BadSignature()
      const { id: reference, tag: delivery_id, event, cause = null } = parseCallbackBody(RECEIPT, body)
      if (event !== 'delivered' && event !== 'failed') return []
      const receipt = { kind: 'receipt', delivery_id, reference, status: event } as const
      if (event === 'delivered') return [receipt]
      const reason = cause === 'no_such_number' ? 'recipient_unreachable' : 'provider_failed'
      return [{ ...receipt, failure: { reason, vendorCode: cause, vendorText: null } }]
    },
  }
}
