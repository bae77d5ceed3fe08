// A complete provider for a vendor that does not exist. In the tree the declaration would be
// services/domain/tenancy/provider-types/acme.ts, and the rest services/channel/providers/acme.ts. In: a message. Out:
// the id that Acme gave it. Acme calls back with the `tag` of the message, which is our delivery id.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../infra/crypto/compare-secrets.ts'
import { BadSignature, type Provider, type ProviderDeps } from '../../services/channel/provider.ts'
import { failureBy, parseCallbackBody, receiptItems } from '../../services/channel/providers/signed-callbacks.ts'
import { postJson, readAnswer } from '../../services/channel/providers/vendor-http.ts'
import { baseUrl, type ConfigOf, declareProvider } from '../../services/domain/tenancy/provider-types/declaration.ts'

export const acme = declareProvider({
  label: 'Acme',
  channels: ['sms'],
  about: 'Sends text messages through Acme.',
  where: 'The key is on the first page of Acme.',
  callback: { entered: false, words: 'Acme gets this address with every message: there is nothing to enter.' },
  config: {
    key: { label: 'Key', secret: true, required: true },
    base_url: baseUrl('https://api.acme.example'),
  },
  errors: { recipient: { no_such_number: 'nobody has this number' } },
})

const ID = z.object({ id: z.string() }).transform(({ id }) => id)
const ERROR_BODY = z.object({ error: z.enum(['no_such_number', 'no_credit']) })
const RECEIPT = z.object({ id: z.string(), tag: z.string(), event: z.string(), cause: z.string().optional() })
const STATUSES = new Map([
  ['delivered', 'delivered'],
  ['failed', 'failed'],
] as const)

export function createAcmeProvider(
  { config }: { config: ConfigOf<typeof acme> },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { key, base_url } = config
  const provider: Provider = {
    async send({ recipient, text, delivery_id }, signal) {
      const body = { to: recipient, text, tag: delivery_id, notify: callbackUrl }
      const headers = { authorization: `Bearer ${key}` }
      const answer = await postJson(outbound, { url: `${base_url}/messages`, headers, body, signal })
      // The code is logged, so only codes that Acme documents are read.
      const code = ERROR_BODY.safeParse(answer.json).data?.error
      return readAnswer(answer, clock.now(), { id: ID, code, errors: acme.errors })
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
      const status = STATUSES.get(event as 'delivered')
      return receiptItems({ delivery_id, reference }, status, () => failureBy(acme.errors, cause, null))
    },
  }
}
