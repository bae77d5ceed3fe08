// Sending the same verification again. The machine decides whether and where; then the address and the message are checked, and
// what was counted is given back if a race makes it come to nothing.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { OtpDoc } from '../../infra/otps/documents.ts'
import { atRest } from '../../infra/otps/sealing.ts'
import type { OtpAnswer, OtpCall, Refusal } from '../../machines/calls.ts'
import type { Step } from '../../machines/otp.step.ts'
import { verificationAnswer } from './answers.ts'
import type { KnownApp } from './apps.ts'
import type { Commit } from './commit.ts'
import { freshFor } from './fresh.ts'
import { type MessageParts, reserveMessage } from './messages.ts'
import { abusiveAddress } from './refusals.ts'
import type { Reputation } from './reputation.ts'
import { NOTHING, type Reservation } from './reserve.ts'

type ResendCall = Extract<OtpCall, { type: 'otp.resend' }>

export interface ResendParts extends MessageParts {
  keyring: Keyring
  clock: Clock
  reputation(address: string): Promise<Reputation>
  commit: Commit
}

export const resending = (parts: ResendParts) => {
  const { keyring, clock, commit } = parts
  return async (command_id: string, call: ResendCall, app: KnownApp): Promise<OtpAnswer> => {
    const committed = await commit(call.otp_id, call.by, {
      command: async doc => ({
        ...(await freshFor(doc.context, app, parts)),
        id: command_id,
        type: 'otp.resend',
        at: clock.now(),
        named: call.channel,
      }),
      reserve: (next, doc) => reserveResend(app, next, doc),
    })
    return verificationAnswer(committed, clock.now())
  }

  async function reserveResend(app: KnownApp, next: Step, doc: OtpDoc): Promise<Reservation> {
    const refusal = await addressRefusal(doc)
    return refusal ? { ...NOTHING, refusal } : reserveMessage(parts, app, next, doc)
  }

  /** The address of the original send, judged by today's lists. */
  async function addressRefusal({ _id, context }: OtpDoc): Promise<Refusal | null> {
    if (context.client_ip === null) return null
    const address = keyring.unseal(context.client_ip, atRest.clientIp(_id))
    return (await parts.reputation(address)) === 'abusive' ? abusiveAddress() : null
  }
}
