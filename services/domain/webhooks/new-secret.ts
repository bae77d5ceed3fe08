// Creates signing secrets, sealed for the endpoint they belong to.
import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { type WebhookSecret, type WebhookSecretState, webhookSecretContext } from './documents.ts'

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

export function createWebhookSecret(
  keyring: Pick<Keyring, 'seal'>,
  value: string,
  { endpoint_id, state, now }: { endpoint_id: string; state: WebhookSecretState; now: number },
): WebhookSecret {
  const id = `whs_${randomBytes(10).toString('hex')}`
  return {
    id,
    state,
    sealed: keyring.seal(value, webhookSecretContext(endpoint_id, id)),
    created_at: now,
    expires_at: null,
  }
}
