// A delivery that is stored nowhere, for a message that belongs to no verification: a test of a provider, or a mail of the console. A receipt for it
// finds no delivery and is ignored.
import { newId } from '../../infra/ids.ts'
import type { Channel } from '../../machines/channels.ts'
import type { Otp } from '../../machines/otp.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import type { DeliveryJob } from './provider.ts'

export function unsavedJob(
  app: TenantApp,
  channel: Channel,
  now: number,
  expires_at: number,
  delivery_id = newId('dlv', now),
): DeliveryJob {
  const otp = unsavedOtp(app, channel, now, expires_at)
  return {
    otp,
    delivery: {
      delivery_id,
      channel,
      generation: otp.generation,
      status: 'queued',
      created_at: now,
      updated_at: now,
      micros: 0,
    },
    purge_at: new Date(expires_at),
  }
}

/** Providers read of it how long the code is valid, and the locale. It holds no recipient, and no secret that a code could be derived from. */
const unsavedOtp = (app: TenantApp, channel: Channel, now: number, expires_at: number): Otp => ({
  otp_id: newId('otp', now),
  company_id: app.company_id,
  app_id: app.id,
  mode: 'live',
  started_by: { key_id: '', kind: 'server' },
  recipient: { kind: channel === 'email' ? 'email' : 'phone', sealed: '', index: '', masked: '', country: null },
  client_ip: null,
  locale: app.settings.locale,
  code: { secret: '', salt: '', length: app.settings.code.length },
  rules: {
    ttl_ms: expires_at - now,
    verify_attempts: 0,
    send_attempts: 0,
    cooldowns_ms: [],
    token_ttl_ms: 0,
    auto_fallback: false,
  },
  order: [channel],
  whatsapp: 'template',
  channel,
  tried: [channel],
  generation: 1,
  link: null,
  sends: 1,
  wrong_codes: 0,
  first_sent_at: now,
  last_sent_at: now,
  expires_at,
  deliveries: [],
  approval: null,
  exchange: null,
})
