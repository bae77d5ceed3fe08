// Questions about a verification. In: its data, and the time where the answer depends on it. Out: the answer; nothing is changed.
// When and where a verification can be resent is in resend.ts; how long its code is valid, in otp.code-life.ts.
import { isLapsed } from './otp.code-life.ts'
import { triesOf } from './otp.ids.ts'
import type { Completion, Delivery, Otp } from './otp.ts'

/** Whether it delivers a code that its caller made, which only the caller can verify. */
export const isMessage = ({ code }: Pick<Otp, 'code'>): boolean => 'given' in code

/** Whether a message carries the code: a request for the contact does not. */
export const carriesCode = ({ writer }: Pick<Delivery, 'writer'>): boolean => writer === undefined

/** No later report changes it. */
export const isEnded = ({ status }: Pick<Delivery, 'status'>): boolean => status === 'delivered' || status === 'failed'

export const completionOf = (otp: Otp): Completion =>
  otp.link !== null && otp.whatsapp === 'link_inbound' ? 'inbound' : 'code'

/** The attempts of one id: what the holder of another id guesses takes none from it. */
export const attemptsLeft = (otp: Otp, otp_id?: string): number =>
  Math.max(0, otp.rules.verify_attempts - triesOf(otp, otp_id).wrong_codes)

/** Whether no code was compared yet under this id. The lock of the recipient does not refuse this guess: a stranger who
 *  enters wrong codes can then not keep out a user who types the right code at once. How many such guesses a recipient
 *  has is counted with the write (reserve in services/otp/calls/verify.ts): a count that was read before could be used
 *  up by a guess at the same time. */
export const isFirstGuess = (otp: Otp, otp_id?: string): boolean =>
  triesOf(otp, otp_id).wrong_codes === 0 && otp.approval === null

/** How long the key that approved may repeat its call, because the reply may have been lost. */
const VERIFY_REPEAT_MS = 60_000

/** Whether it is too late to repeat the approving call. After the exchange the reply is not needed any more: the token arrived. */
export const isRepeatOver = (otp: Otp, at: number): boolean =>
  otp.approval === null || at >= otp.approval.at + VERIFY_REPEAT_MS || isLapsed(otp, at) || otp.exchange !== null

export const sendsLeft = (otp: Pick<Otp, 'sends'> & { rules: Pick<Otp['rules'], 'send_attempts'> }): number =>
  Math.max(0, otp.rules.send_attempts - otp.sends)

/** A token belongs to an approval by a device. It can be exchanged until it expires, and by one API key only. */
export const isExchangeable = (otp: Otp, key_id: string, at: number): boolean =>
  otp.approval?.by?.kind === 'publishable' &&
  at < otp.approval.at + otp.rules.token_ttl_ms &&
  (otp.exchange === null || otp.exchange.key_id === key_id)
