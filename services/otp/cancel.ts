// Ending a verification that is no longer wanted.
import type { Clock } from '../../infra/clock.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import { verificationView } from '../../machines/view.ts'
import type { Commit } from './commit.ts'
import { notFound, refusalOf } from './refusals.ts'

type CancelCall = Extract<OtpCall, { type: 'otp.cancel' }>

export const canceling =
  ({ clock, commit }: { clock: Clock; commit: Commit }) =>
  async (command_id: string, call: CancelCall): Promise<OtpAnswer> => {
    const committed = await commit(call.otp_id, call.by, {
      command: () => ({ id: command_id, type: 'otp.cancel', at: clock.now() }),
    })
    if (committed === null) return notFound()
    if ('refusal' in committed) return committed.refusal
    const { doc, reply } = committed
    return reply.kind === 'refused'
      ? refusalOf(reply)
      : { kind: 'verification', verification: verificationView(doc, clock.now()) }
  }
