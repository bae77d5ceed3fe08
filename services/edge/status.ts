// In: the id of a verification or a message, and the caller's identity. Out: its status, or 404 for a key of another app or mode. Beside it
// only Twilio's API (twilio/router.ts) reads verifications at the edge.

import type { Clock } from '../../infra/clock.ts'
import { isId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Trace } from '../../infra/trace.ts'
import type { Identity } from '../../machines/calls.ts'
import { carriesCode } from '../../machines/otp.queries.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import { messageView, type StatusView, statusView } from '../../machines/otp.view.ts'
import { problem } from '../domain/errors.ts'
import type { JoinedIdDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { otpById } from '../domain/verifications/joined-ids.ts'
import { metadataOf, sealedMetadataOf } from '../domain/verifications/metadata.ts'
import { type AnswerDeps, otpNotFound, verificationBody } from './answers.ts'
import type { MessageDetails, VerificationDetails } from './schemas.answers.ts'

export interface StatusDeps extends AnswerDeps {
  otps: Pick<Docs<OtpDoc>, 'get'>
  joinedIds: Pick<Docs<JoinedIdDoc>, 'get'>
  clock: Pick<Clock, 'now'>
}

export interface ReadStatus {
  verification(otp_id: string, by: Identity, trace: Trace): Promise<VerificationDetails>
  message(message_id: string, by: Identity, trace: Trace): Promise<MessageDetails>
}

/** A verification or a message of the app and mode of the caller's key; null where there is none. */
export async function findOwn(
  deps: Pick<StatusDeps, 'otps' | 'joinedIds'>,
  id: string | null,
  by: Identity,
): Promise<OtpDoc | null> {
  const doc = id === null ? null : await otpById(deps, id)
  return !doc || doc.app_id !== by.app_id || doc.mode !== by.mode ? null : doc
}

export function createReadStatus({ otps, joinedIds, keyring, clock, reportMissingKey }: StatusDeps): ReadStatus {
  return {
    async verification(otp_id, by, trace) {
      const doc = await findOwn({ otps, joinedIds }, isId('otp', otp_id) ? otp_id : null, by)
      if (doc === null) throw otpNotFound()
      const view = statusView(toCurrentVersion(doc), clock.now(), otp_id)
      return {
        // The status is useful even without the link.
        ...verificationBody({ keyring, reportMissingKey }, view, trace, false),
        created_at: isoTime(view.created_at),
        expires_at: isoTime(view.expires_at),
        verified_at: isoTimeOrNull(view.verified_at),
        attempts_left: view.attempts_left,
        resend_at: isoTimeOrNull(view.resend_at),
        ...(by.kind === 'server' ? { deliveries: deliveriesOf(view) } : {}),
        ...(by.kind === 'server' && sealedMetadataOf(doc, otp_id) !== undefined
          ? { metadata: metadataOf(keyring, doc, otp_id) }
          : {}),
      }
    },

    async message(message_id, by) {
      const doc = await findOwn({ otps, joinedIds }, isId('msg', message_id) ? message_id : null, by)
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
  deliveries
    .filter(carriesCode)
    .map(({ delivery_id, channel, status, reason, late_receipt_at, created_at, updated_at }) => ({
      delivery_id,
      channel,
      status,
      ...(reason === undefined ? {} : { reason }),
      ...(late_receipt_at === undefined ? {} : { late_receipt: 'delivered' as const }),
      created_at: isoTime(created_at),
      updated_at: isoTime(updated_at),
    }))
