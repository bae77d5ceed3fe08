// Past calls as a replay plays them: sends, messages after the first, and how verifications ended. Recipients are in the clear here: nothing of
// this is stored.
import type { LimitScope } from './calls.ts'
import type { Channel } from './channels.ts'
import type { ErrorType } from './errors.ts'
import type { KeyKind, Recipient, SendCircumstances } from './otp.ts'
import type { NetworkName } from './quotas.ts'

/** `mailbox`: the recipient in the clear, in the form that limits count; or another text that tells numbers apart, where no guard is on. */
export interface PastRecipient extends Pick<Recipient, 'kind' | 'country' | 'masked'> {
  mailbox: string
}

/** `micros`: of its message, 0 where there was none. `refund`: its message failed, and its price was given back; `taken_back` where an approval
 *  charged it again. */
export interface Accepted {
  channel: Channel
  micros: number
  refund?: 'kept' | 'taken_back'
}

export interface Refused {
  type: ErrorType
  scope: LimitScope | null
}

export type PastResult = Accepted | Refused

export interface PastSend {
  what: 'send'
  at: number
  /** Of the verification, or of the refusal. */
  id: string
  kind: KeyKind
  recipient: PastRecipient
  /** Of what is sent to the recipient, by this kind of key. */
  counter: { key: string }
  /** Null without a usable client address. */
  address: { networks: readonly NetworkName[]; abusive: boolean } | null
  circumstances: SendCircumstances
  /** The code that the caller made, or one that the same channels carry; null for a verification. */
  givenCode: string | null
  result: PastResult
}

/** A message of a verification after its first. */
export interface PastResend {
  what: 'resend'
  at: number
  id: string
  /** The verification. */
  otp_id: string
  /** Of the key that asked; null for a fallback and for an answer in the chat, which no call asks for. */
  kind: KeyKind | null
  /** The channel that the call named. */
  requested: Channel | null
  result: PastResult
}

export type PastEvent =
  | PastSend
  | PastResend
  /** Approved, failed or canceled. `approvedSentAt`: of an approval, when the message was sent that was verified. */
  | { what: 'end'; at: number; otp_id: string; approvedSentAt: number | null }
  /** Of the price of a call's message. */
  | { what: 'refund' | 'recharge'; at: number; call_id: string }

export type PastCall = PastSend | PastResend

/** A fallback or an answer in the chat. */
export const isUnasked = (call: PastCall): boolean => call.what === 'resend' && call.kind === null

export const isRefused = (result: PastResult): result is Refused => 'type' in result
