// In: the id of a verification or a message, and the caller's identity. Out: its status, or 404 for a key of another app or mode. Beside it
// only Twilio's API (twilio/router.ts) reads verifications at the edge.

import type { Clock } from '../../infra/clock.ts'
import { isId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Trace } from '../../infra/trace.ts'
import type { Identity } from '../../machines/calls.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import { messageView, type StatusView, statusView } from '../../machines/otp.view.ts'
import { problem } from '../domain/errors.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { metadataOf } from '../domain/verifications/metadata.ts'
import { type AnswerDeps, otpNotFound, verificationBody } from './answers.ts'
import type { MessageDetails, VerificationDetails } from './schemas.answers.ts'

export interface StatusDeps extends AnswerDeps {
  otps: Pick<Docs<OtpDoc>, 'get'>
  clock: Pick<Clock, 'now'>
}

export interface ReadStatus {
  verification(otp_id: string, by: Identity, trace: Trace): Promise<VerificationDetails>
  message(message_id: string, by: Identity, trace: Trace): Promise<MessageDetails>
}

export function createReadStatus({ otps, keyring, clock, reportMissingKey }: StatusDeps): ReadStatus {
  async function find(prefix: 'otp' | 'msg', id: string, by: Identity): Promise<OtpDoc | null> {
    const doc = isId(prefix, id) ? (await otps.get([id])).get(id) : undefined
    return !doc || doc.app_id !== by.app_id || doc.mode !== by.mode ? null : doc
  }

  return {
    async verification(otp_id, by, trace) {
      const doc = await find('otp', otp_id, by)
      if (doc === null) throw otpNotFound()
      const view = statusView(toCurrentVersion(doc), clock.now())
      return {
        // The status is useful even without the link.
        ...verificationBody({ keyring, reportMissingKey }, view, trace, false),
        created_at: isoTime(view.created_at),
        expires_at: isoTime(view.expires_at),
        verified_at: isoTimeOrNull(view.verified_at),
        attempts_left: view.attempts_left,
        resend_at: isoTimeOrNull(view.resend_at),
        ...(by.kind === 'server' ? { deliveries: deliveriesOf(view) } : {}),
        ...(by.kind === 'server' && doc.metadata !== undefined ? { metadata: metadataOf(keyring, doc) } : {}),
      }
    },

    async message(message_id, by) {
      const doc = await find('msg', message_id, by)
      if (doc === null) throw problem('OtpNotFoundError', { detail: 'There is no such message for this key.' })
      const view = messageView(toCurrentVersion(doc), clock.now())
      return {
        ...view,
        created_at: isoTime(view.created_at),
        expires_at: isoTime(view.expires_at),
        deliveries: deliveriesOf(view),
      }
    },
  }
}

const deliveriesOf = ({ deliveries }: Pick<StatusView, 'deliveries'>) =>
  deliveries.map(({ delivery_id, channel, status, reason, created_at, updated_at }) => ({
    delivery_id,
    channel,
    status,
    ...(reason === undefined ? {} : { reason }),
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  }))
