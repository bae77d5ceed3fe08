// The signing secrets of an endpoint, sealed for it, and which of them sign now.
//   created → next, beside the current one → promoted to current; the former current one stays old for a day, so that receivers can follow.
import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { DAY_MS } from '../../../infra/time.ts'
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

export const OLD_SECRET_TTL_MS = DAY_MS

/** Makes `current` the current secret, whether it is new or in the list; the one it replaces becomes old. */
export function withCurrent(secrets: readonly WebhookSecret[], current: WebhookSecret, now: number): WebhookSecret[] {
  const others = secrets.filter(secret => secret.id !== current.id && isUnexpired(secret, now))
  return [{ ...current, state: 'current', expires_at: null }, ...others.map(secret => retire(secret, now))]
}

/** Adds a secret that awaits promotion, and drops one that awaited it before. */
export const withNext = (secrets: readonly WebhookSecret[], next: WebhookSecret, now: number): WebhookSecret[] => [
  ...secrets.filter(secret => secret.state !== 'next' && isUnexpired(secret, now)),
  next,
]

/** The current secret first. */
export function signingSecrets<S extends Pick<WebhookSecret, 'state' | 'expires_at'>>(
  secrets: readonly S[],
  now: number,
): S[] {
  const alive = secrets.filter(secret => isUnexpired(secret, now))
  return [...alive.filter(secret => secret.state === 'current'), ...alive.filter(secret => secret.state !== 'current')]
}

const isUnexpired = (secret: Pick<WebhookSecret, 'expires_at'>, now: number): boolean =>
  secret.expires_at === null || secret.expires_at > now

const retire = (secret: WebhookSecret, now: number): WebhookSecret =>
  secret.state === 'current' ? { ...secret, state: 'old', expires_at: now + OLD_SECRET_TTL_MS } : secret
