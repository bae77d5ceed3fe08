// Resends and cancels by people, through the same calls to the OTP actor as those of API keys, with the same limits and prices. In: a
// verification. Out: the verification after, and an audit record. No challenge is asked for: who may do this may use a server key too.
import type { Context } from 'koa'
import { z } from 'zod'
import { traceOf } from '../../../infra/http/request-trace.ts'
import type { CallOf } from '../../../machines/calls.ts'
import { openIds } from '../../../machines/otp.ids.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { refusalProblem } from '../../domain/errors.ts'
import { errorRefusal } from '../../domain/openapi/refusals.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { requestOtp } from '../../domain/verifications/queue-messages.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { getOr404 } from '../request-input.ts'
import { requireOpen } from '../require-open.ts'
import { NotMade } from '../with-audit.ts'
import { exampleVerification, operatorView } from './operator-view.ts'
import { verificationRecord } from './schemas.ts'

/** In place of an API key, in the record of refusals. */
const DASHBOARD_KEY_ID = 'dashboard'

const CLOSED = conflict('The app or its company is closed.')
const EXPIRED = errorRefusal('OtpExpiredError', 'It has expired.')

export const verificationCommandOperations = [
  operation({
    id: 'resendVerification',
    request: 'POST /verifications/{otp_id}/resend',
    role: 'developer',
    summary: 'Send a verification again',
    description:
      'As `POST /otp/resend` of the client API with a server key: after the cooldown, within the same limits, at the same price.',
    body: {
      schema: z
        .strictObject({
          channel: channel.optional().meta({
            description: 'Moves it onto exactly this channel, with a fresh code. Otherwise the next channel is used.',
          }),
        })
        .meta({ id: 'VerificationResend', description: 'Sends a verification again.' })
        .optional(),
      example: {},
    },
    answers: [ok(verificationRecord, 'The verification on its new channel.', exampleVerification)],
    refusals: [
      CLOSED,
      errorRefusal('ResendNotAllowedError', 'It is not pending, has no resend left, or cannot move to the channel.'),
      errorRefusal('ResendCooldownError', 'Too soon after the last send.', {
        scope: 'resend_cooldown',
        retry_after: 12,
      }),
      errorRefusal('RateLimitExceededError', 'A limit is reached.', { scope: 'recipient', retry_after: 42 }),
      errorRefusal('GeoBlockedError', 'The app does not send to the country of the recipient.'),
      errorRefusal('IpReputationBlockedError', 'The client address of its send is on a list of abusive ones.'),
      errorRefusal('InsufficientFundsError', 'The balance does not pay for the message.'),
    ],
    handle: ({ ctx, verification, body }, admin) =>
      callOtp(ctx, admin, verification, 'verification.resend', { type: 'otp.resend', channel: body?.channel ?? null }),
  }),
  operation({
    id: 'cancelVerification',
    request: 'POST /verifications/{otp_id}/cancel',
    role: 'developer',
    summary: 'Cancel a verification',
    description: 'Its code and link are dead from then on. Canceling twice gives the same answer.',
    answers: [ok(verificationRecord, 'The verification, canceled.', { ...exampleVerification, status: 'canceled' })],
    refusals: [CLOSED, errorRefusal('OtpNotPendingError', 'It has ended.', { otp_status: 'approved' }), EXPIRED],
    handle: ({ ctx, verification }, admin) =>
      callOtp(ctx, admin, verification, 'verification.cancel', { type: 'otp.cancel', all: true }),
  }),
]

type Command = { type: 'otp.resend'; channel: CallOf<'otp.resend'>['channel'] } | { type: 'otp.cancel'; all: true }

async function callOtp(ctx: Context, admin: AdminDeps, doc: OtpDoc, action: string, command: Command) {
  const { store, broker, keyring, clock, withAudit } = admin
  const { _id: otp_id, app_id, company_id, mode } = doc
  await requireOpen(store, await getOr404(ctx, store.docs('apps'), app_id, 'app'))
  const by = { key_id: DASHBOARD_KEY_ID, kind: 'server', company_id, app_id, mode } as const
  const readAgain = (): Promise<OtpDoc> => getOr404(ctx, store.docs('otps'), otp_id, 'verification')
  const after = await withAudit<OtpDoc>(ctx, () => {
    if (command.type === 'otp.cancel' && recordOf(doc).status === 'canceled') return { unchanged: doc }
    return {
      action,
      target: otp_id,
      company_id,
      before: recordOf(doc),
      after: null,
      async perform() {
        // A resend is for an id that can still use the code.
        const named = openIds(toCurrentVersion(doc).context)[0] ?? otp_id
        const answer = await requestOtp(broker, { ...command, by, otp_id: named }, traceOf(ctx))
        if (answer.kind === 'refused') {
          const refused = refusalProblem(answer)
          // After this one it is not known whether the call was executed, so the record stays begun.
          throw answer.error === 'ServiceUnavailableError' ? refused : new NotMade(refused)
        }
        if (answer.kind !== 'verification') throw new Error('the OTP actor did not answer this call')
        return readAgain()
      },
      recordResult: recordOf,
    }
  })
  return operatorView(keyring, after, clock.now())
}

/** What the audit log says of it. */
function recordOf(doc: OtpDoc) {
  const { value, context } = toCurrentVersion(doc)
  return { app_id: doc.app_id, status: value, channel: context.channel, sends: context.sends }
}
