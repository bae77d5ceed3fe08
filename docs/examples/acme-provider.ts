// A whole provider, for a vendor that does not exist. In the tree it would be services/channel/providers/acme.ts.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { equal } from '../../infra/crypto/compare.ts'
import {
  BadSignature,
  type Provider,
  RecipientFault,
  type Tools,
  UnknownOutcome,
} from '../../services/channel/provider.ts'
import { ask, faultOf, isSuccess } from '../../services/channel/providers/answers.ts'
import { readCallback } from '../../services/channel/providers/callbacks.ts'

export interface AcmeConfig {
  key: string
  base_url: string
}

const TAKEN = z.object({ id: z.string() })
const REFUSED = z.object({ error: z.literal('no_such_number') })
const RECEIPT = z.object({ id: z.string(), tag: z.string(), event: z.string() })

export function acme({ config }: { config: AcmeConfig }, { outbound, clock, callbackUrl }: Tools): Provider {
  const { key, base_url } = config
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

  const provider: Provider = {
    async send({ recipient, text, errand }, signal) {
      const { delivery_id: tag } = errand.delivery
      const body = JSON.stringify({ to: recipient, text, tag, notify: callbackUrl })
      const answer = await ask(outbound, { method: 'POST', url: `${base_url}/messages`, headers, body, signal })
      if (isSuccess(answer)) {
        const taken = TAKEN.safeParse(answer.json)
        if (taken.success) return { reference: taken.data.id }
        throw new UnknownOutcome('it took the message, as it seems, and named none')
      }
      if (REFUSED.safeParse(answer.json).success) throw new RecipientFault('no such number')
      throw faultOf(answer, clock.now())
    },
  }
  // Told of no address, it never calls.
  if (callbackUrl === null) return provider
  return {
    ...provider,
    hear({ headers: given, body }) {
      const expected = createHmac('sha256', key).update(body).digest('hex')
      if (!equal(given['acme-signature'] ?? '', expected)) throw new BadSignature()
      const { id: reference, tag: delivery_id, event } = readCallback(RECEIPT, body)
      if (event !== 'delivered' && event !== 'failed') return []
      return [{ kind: 'receipt', delivery_id, reference, status: event }]
    },
  }
}
