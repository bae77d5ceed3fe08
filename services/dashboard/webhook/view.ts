// An endpoint as the admin API and the audit log show it, with fingerprints in place of secrets.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import { DEFAULT_EVENTS } from '../../../machines/webhook-events.ts'
import { fingerprint } from '../../domain/tenancy/fingerprint.ts'
import { type WebhookEndpoint, type WebhookSecret, webhookSecretContext } from '../../domain/webhooks/documents.ts'
import { appIdOf, endpointId } from '../../domain/webhooks/endpoint-ids.ts'
import { signingSecrets } from '../../domain/webhooks/secrets.ts'
import type { EndpointAnswer } from './schemas.ts'

type Unsealer = Pick<Keyring, 'unseal'>
type Viewer = Pick<Keyring, 'unseal' | 'index'>

export function endpointView(keyring: Viewer, endpoint: WebhookEndpoint, now: number): EndpointAnswer {
  const { _id, name = null, url, status, events = DEFAULT_EVENTS, payload = 'minimal', secrets } = endpoint
  const { failures, failing_since, last_success_at, paused } = endpointLife(endpoint).context
  return {
    id: endpointId(_id),
    app_id: appIdOf(endpoint),
    name,
    url,
    events: [...events],
    payload,
    status,
    failures,
    failing_since: isoTimeOrNull(failing_since),
    last_success_at: isoTimeOrNull(last_success_at),
    paused: paused && { at: isoTime(paused.at), reason: paused.reason },
    secrets: signingSecrets(secrets, now).map(secret => ({
      id: secret.id,
      state: secret.state,
      fingerprint: fingerprintOf(keyring, _id, secret),
      created_at: isoTime(secret.created_at),
      expires_at: isoTimeOrNull(secret.expires_at),
    })),
  }
}

export const endpointAuditFields = (
  keyring: Viewer,
  { _id, name, url, events, payload, status, secrets }: WebhookEndpoint,
) => ({
  ...(name === undefined ? {} : { name }),
  url,
  ...(events === undefined ? {} : { events }),
  ...(payload === undefined ? {} : { payload }),
  status,
  secrets: secrets.map(secret => ({
    id: secret.id,
    state: secret.state,
    fingerprint: fingerprintOf(keyring, _id, secret),
    expires_at: isoTimeOrNull(secret.expires_at),
  })),
})

/** Null when its data key is no longer configured. */
export const unsealSecret = (keyring: Unsealer, endpoint_id: string, { id, sealed }: WebhookSecret): string | null =>
  unsealOrNull(keyring, sealed, webhookSecretContext(endpoint_id, id))

function fingerprintOf(keyring: Viewer, endpoint_id: string, secret: WebhookSecret): string | null {
  const value = unsealSecret(keyring, endpoint_id, secret)
  return value === null ? null : fingerprint(keyring, value)
}
