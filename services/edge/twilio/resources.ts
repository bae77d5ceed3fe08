// In: a verification. Out: the resource that Twilio's API would show of it.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { carriesCode } from '../../../machines/otp.queries.ts'
import type { Otp, OtpStatus } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { type StatusView, statusView } from '../../../machines/otp.view.ts'
import { twilioSid } from '../../domain/tenancy/twilio-sids.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import type { CheckResource, VerificationResource } from './schemas.ts'

type Status = VerificationResource['status']

const STATUSES: Record<OtpStatus, Status> = {
  pending: 'pending',
  approved: 'approved',
  canceled: 'canceled',
  failed: 'max_attempts_reached',
  expired: 'expired',
}

/** `otp_id`: the id that is shown, one of the verification's. */
export function verificationOf(
  keyring: Keyrings,
  doc: OtpDoc,
  otp_id: string,
  now: number,
  base: string,
): VerificationResource {
  const saved = toCurrentVersion(doc)
  const { context: otp } = saved
  const shared = sharedMembers(keyring, doc, statusView(saved, now, otp_id), updatedAt(otp))
  return {
    ...shared,
    lookup: {},
    send_code_attempts: otp.deliveries.filter(carriesCode).map(({ delivery_id, channel, created_at }) => ({
      attempt_sid: twilioSid('dlv', delivery_id),
      channel: channel.toUpperCase(),
      time: secondsOf(created_at),
    })),
    sna: null,
    url: `${base}/compat/twilio/v2/Services/${shared.service_sid}/Verifications/${shared.sid}`,
  }
}

/** `doc`: from before the check. */
export const checkOf = (
  keyring: Keyrings,
  doc: OtpDoc,
  otp_id: string,
  status: OtpStatus,
  now: number,
): CheckResource => ({
  ...sharedMembers(keyring, doc, { ...statusView(toCurrentVersion(doc), now, otp_id), status }, now),
  sna_attempts_error_codes: [],
})

type Keyrings = Pick<Keyring, 'unseal'>

const sharedMembers = (
  keyring: Keyrings,
  doc: OtpDoc,
  { otp_id, status, created_at }: Pick<StatusView, 'otp_id' | 'status' | 'created_at'>,
  updated_at: number,
) => ({
  sid: twilioSid('otp', otp_id),
  service_sid: twilioSid('app', doc.app_id),
  account_sid: twilioSid('cmp', doc.company_id),
  to: keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id)),
  channel: doc.context.channel,
  status: STATUSES[status],
  valid: status === 'approved',
  amount: null,
  payee: null,
  date_created: secondsOf(created_at),
  date_updated: secondsOf(updated_at),
})

const updatedAt = ({ last_sent_at, approval, failed_at = 0, ended_at = 0, deliveries }: Otp): number =>
  Math.max(last_sent_at, approval?.at ?? 0, failed_at, ended_at, ...deliveries.map(({ updated_at }) => updated_at))

const secondsOf = (at: number): string => isoTime(at).replace(/\.\d+Z$/, 'Z')
