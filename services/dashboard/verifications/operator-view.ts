// A verification as a person of the company sees it: with its messages, what they cost, and its metadata, but with a masked recipient.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { isPaid } from '../../../machines/otp.charges.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import { allWrongCodes, approvedId, openIds, statusOf } from '../../../machines/otp.ids.ts'
import { isMessage } from '../../../machines/otp.queries.ts'
import type { Delivery } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { statusView } from '../../../machines/otp.view.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import { metadataOf } from '../../domain/verifications/metadata.ts'
import type { VerificationAnswer } from './schemas.ts'

export const exampleVerification: VerificationAnswer = {
  otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  kind: 'verification',
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+44****56',
  completion: 'code',
  created_at: '2030-01-01T12:00:00.000Z',
  expires_at: '2030-01-01T12:10:00.000Z',
  verified_at: null,
  attempts_left: 5,
  resend_at: '2030-01-01T12:00:30.000Z',
  deliveries: [
    {
      delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
      channel: 'sms',
      generation: 1,
      status: 'failed',
      created_at: '2030-01-01T12:00:00.000Z',
      updated_at: '2030-01-01T12:00:02.310Z',
      micros: 40_000,
      provider: 'main-sms',
      reason: 'recipient_unreachable',
    },
  ],
  action_url: null,
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  mode: 'live',
  started_by: { key_id: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c', kind: 'server' },
  country: 'GB',
  locale: 'en',
  order: ['sms'],
  sends: 1,
  generation: 1,
  wrong_codes: 0,
  joined: [],
  approved_by: null,
  exchange: null,
  metadata: { order: 'A-1042' },
  cost_micros: 0,
  request_id: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55',
}

export function operatorView(keyring: Pick<Keyring, 'unseal'>, doc: OtpDoc, now: number): VerificationAnswer {
  const saved = toCurrentVersion(doc)
  const { context: otp } = saved
  const view = statusView(saved, now, approvedId(otp) ?? openIds(otp)[0])
  const { sealed_action_url } = view
  return {
    otp_id: otp.otp_id,
    kind: isMessage(otp) ? 'message' : 'verification',
    status: statusAt(saved.value, otp, now),
    channel: view.channel,
    masked_recipient: view.masked_recipient,
    completion: view.completion,
    // Null too when the data key of an old link is no longer configured.
    action_url: sealed_action_url === null ? null : unsealOrNull(keyring, sealed_action_url, atRest.link(otp.otp_id)),
    created_at: isoTime(otp.first_sent_at),
    expires_at: isoTime(view.expires_at),
    verified_at: isoTimeOrNull(view.verified_at),
    attempts_left: isMessage(otp) ? 0 : view.attempts_left,
    resend_at: isoTimeOrNull(view.resend_at),
    deliveries: view.deliveries.map(deliveryView),
    company_id: otp.company_id,
    app_id: otp.app_id,
    mode: otp.mode,
    started_by: otp.started_by,
    country: otp.recipient.country,
    locale: otp.locale,
    order: otp.order,
    sends: otp.sends,
    generation: otp.generation,
    wrong_codes: allWrongCodes(otp),
    joined: (otp.joined ?? []).map(({ otp_id, joined_at, by, wrong_codes }) => ({
      otp_id,
      joined_at: isoTime(joined_at),
      by,
      status: statusOf(saved.value, otp, now, otp_id),
      wrong_codes,
      metadata: metadataOf(keyring, doc, otp_id),
    })),
    approved_by: otp.approval?.by ?? null,
    exchange: otp.exchange && { key_id: otp.exchange.key_id, at: isoTime(otp.exchange.at) },
    metadata: metadataOf(keyring, doc),
    cost_micros: otp.deliveries.filter(isPaid).reduce((sum, { micros }) => sum + micros, 0),
    request_id: doc.request_id ?? null,
  }
}

/** What the vendor said is in the timeline. */
const deliveryView = (delivery: Delivery): VerificationAnswer['deliveries'][number] => ({
  delivery_id: delivery.delivery_id,
  channel: delivery.channel,
  generation: delivery.generation,
  status: delivery.status,
  created_at: isoTime(delivery.created_at),
  updated_at: isoTime(delivery.updated_at),
  micros: delivery.micros,
  ...(delivery.provider === undefined ? {} : { provider: delivery.provider }),
  ...(delivery.reason === undefined ? {} : { reason: delivery.reason }),
  ...(delivery.late_receipt_at === undefined ? {} : { late_receipt: 'delivered' }),
  ...(delivery.charge === undefined ? {} : { charge: delivery.charge }),
  ...(delivery.writer === undefined ? {} : { asks_contact: true }),
})
