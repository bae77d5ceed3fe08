// Cancels a verification. In: the call. Out: the verification, or a refusal.
import type { Clock } from '../../../infra/clock.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf, OtpAnswer } from '../../../machines/calls.ts'
import { eventIdFor } from '../../domain/webhooks/event-ids.ts'
import type { IsAskedFor } from '../apps.ts'
import type { Commit } from '../commit.ts'
import { verificationAnswer } from './verification-answer.ts'

export const createCancel =
  ({ clock, commit, isAskedFor }: { clock: Clock; commit: Commit; isAskedFor: IsAskedFor }) =>
  async (command_id: string, call: CallOf<'otp.cancel'>, trace: Trace | undefined): Promise<OtpAnswer> => {
    const committed = await commit(call.otp_id, call.by, {
      trace,
      async command({ _id, app_id }) {
        const at = clock.now()
        const event_id = (await isAskedFor(app_id, 'otp.canceled')) ? eventIdFor(_id, at) : undefined
        return { id: command_id, type: 'otp.cancel', at, event_id }
      },
    })
    return verificationAnswer(committed, clock.now())
  }
