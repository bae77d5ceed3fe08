// An endpoint as people and the audit log see it: where it is, how it fares, and fingerprints in place of its secrets.
import { type Keyring, Unsealable } from '../../../infra/crypto/keyring.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import { fingerprint } from '../../domain/tenancy/fingerprint.ts'
import { type WebhookEndpoint, type WebhookSecret, webhookSecretContext } from '../../domain/webhooks/documents.ts'
import { signing } from '../../domain/webhooks/secrets.ts'
import { time, timeOrNull } from '../admin.ts'

type Opening = Pick<Keyring, 'unseal'>

export function shownEndpoint(keyring: Opening, endpoint: WebhookEndpoint, now: number) {
  const { _id: app_id, url, status, secrets } = endpoint
  const { failures, failing_since, last_success_at, paused } = endpointLife(endpoint).context
  return {
    ...{ app_id, url, status, failures },
    failing_since: timeOrNull(failing_since),
    last_success_at: timeOrNull(last_success_at),
    paused: paused && { at: time(paused.at), reason: paused.reason },
    secrets: signing(secrets, now).map(secret => ({
      ...{ id: secret.id, state: secret.state, fingerprint: fingerprintOf(keyring, app_id, secret) },
      created_at: time(secret.created_at),
      expires_at: timeOrNull(secret.expires_at),
    })),
  }
}

export const recordedEndpoint = (keyring: Opening, { _id, url, status, secrets }: WebhookEndpoint) => ({
  ...{ url, status },
  secrets: secrets.map(secret => ({
    ...{ id: secret.id, state: secret.state, fingerprint: fingerprintOf(keyring, _id, secret) },
    expires_at: timeOrNull(secret.expires_at),
  })),
})

/** Null when it was sealed with a key that is gone. */
export function openedSecret(keyring: Opening, app_id: string, { id, sealed }: WebhookSecret): string | null {
  try {
    return keyring.unseal(sealed, webhookSecretContext(app_id, id))
  } catch (error) {
    if (error instanceof Unsealable) return null
    throw error
  }
}

function fingerprintOf(keyring: Opening, app_id: string, secret: WebhookSecret): string | null {
  const value = openedSecret(keyring, app_id, secret)
  return value === null ? null : fingerprint(value)
}
