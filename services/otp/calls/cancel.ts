// Cancels a verification. In: the call. Out: the verification, or a refusal.
import type { Clock } from '../../../infra/clock.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import type { Commit } from '../commit/commit.ts'
import { verificationAnswer } from './answers.ts'

type CancelCall = Extract<OtpCall, { type: 'otp.cancel' }>

export const createCancel =
  ({ clock, commit }: { clock: Clock; commit: Commit }) =>
  async (command_id: string, call: CancelCall, trace: Trace | undefined): Promise<OtpAnswer> => {
    const committed = await commit(call.otp_id, call.by, {
      trace,
      command: () => ({ id: command_id, type: 'otp.cancel', at: clock.now() }),
    })
    return verificationAnswer(committed, clock.now())
  }
