// In: the id of a verification and the caller's identity. Out: its status, or 404 for a key of another app or mode. Beside it only
// Twilio's API (twilio/router.ts) reads verifications at the edge.

import type { Clock } from '../../infra/clock.ts'
import { isId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Trace } from '../../infra/trace.ts'
import type { Identity } from '../../machines/calls.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import { type StatusView, statusView } from '../../machines/otp.view.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { metadataOf } from '../domain/verifications/metadata.ts'
import { type AnswerDeps, otpNotFound, withLinkIfReadable } from './answers.ts'
import type { VerificationDetails } from './schemas.answers.ts'

export interface StatusDeps extends AnswerDeps {
  otps: Pick<Docs<OtpDoc>, 'get'>
  clock: Pick<Clock, 'now'>
}

export const createReadStatus =
  ({ otps, keyring, clock, reportMissingKey }: StatusDeps) =>
  async (otp_id: string, by: Identity, trace: Trace): Promise<VerificationDetails> => {
    const doc = isId('otp', otp_id) ? (await otps.get([otp_id])).get(otp_id) : undefined
    if (!doc || doc.app_id !== by.app_id || doc.mode !== by.mode) throw otpNotFound()
    const view = statusView(toCurrentVersion(doc), clock.now())
    return {
      ...withLinkIfReadable({ keyring, reportMissingKey }, view, trace),
      created_at: isoTime(view.created_at),
      expires_at: isoTime(view.expires_at),
      verified_at: isoTimeOrNull(view.verified_at),
      attempts_left: view.attempts_left,
      resend_at: isoTimeOrNull(view.resend_at),
      ...(by.kind === 'server' ? { deliveries: deliveriesOf(view) } : {}),
      ...(by.kind === 'server' && doc.metadata !== undefined ? { metadata: metadataOf(keyring, doc) } : {}),
    }
  }

const deliveriesOf = ({ deliveries }: StatusView) =>
  deliveries.map(({ delivery_id, channel, status, reason, created_at, updated_at }) => ({
    delivery_id,
    channel,
    status,
    ...(reason === undefined ? {} : { reason }),
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  }))
