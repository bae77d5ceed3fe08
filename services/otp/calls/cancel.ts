// Cancels a verification. In: the call. Out: the verification, or a refusal.
import type { Clock } from '../../../infra/clock.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf, OtpAnswer } from '../../../machines/calls.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import { eventIdsFor } from '../../domain/webhooks/event-ids.ts'
import type { IsAskedFor } from '../apps.ts'
import type { Commit } from '../commit.ts'
import { verificationAnswer } from './verification-answer.ts'

export const createCancel =
  ({ clock, commit, isAskedFor }: { clock: Clock; commit: Commit; isAskedFor: IsAskedFor }) =>
  async (command_id: string, call: CallOf<'otp.cancel'>, trace: Trace | undefined): Promise<OtpAnswer> => {
    const committed = await commit(call.otp_id, call.by, {
      trace,
      async command({ app_id, context }) {
        const at = clock.now()
        const { otp_id, all } = call
        const event_ids = (await isAskedFor(app_id, 'otp.canceled')) ? eventIdsFor(idsOf(context), at) : undefined
        return { id: command_id, type: 'otp.cancel', at, ...(all ? { all } : { otp_id }), event_ids }
      },
    })
    return verificationAnswer(committed, call.otp_id, clock.now())
  }
