// Past calls as a replay plays them: sends, messages after the first, and how verifications ended. Recipients are in
// the clear here: nothing of this is stored.
import type { LimitScope } from './calls.ts'
import type { Channel } from './channels.ts'
import type { ErrorType } from './errors.ts'
import type { KeyKind, Recipient, SendCircumstances } from './otp.ts'
import type { NetworkName } from './quotas.ts'
import type { WhatsAppMode } from './settings.ts'

/** `mailbox`: the recipient in the clear, in the form that limits count; or another text that tells numbers apart, where no guard is on. */
export interface PastRecipient extends Pick<Recipient, 'kind' | 'country' | 'masked' | 'number_kind'> {
  mailbox: string
}

/** `micros`: the price of its message; null for a wa.me link, which is none. `refund`: its message failed, and its price was given back;
 *  `taken_back` where an approval charged it again. */
export interface Accepted {
  channel: Channel
  micros: number | null
  refund?: 'given' | 'taken_back'
}

export interface Refused {
  type: ErrorType
  scope: LimitScope | null
}

export type PastResult = Accepted | Refused

export interface PastSend {
  what: 'send'
  at: number
  /** The id of the verification or of the refusal. */
  id: string
  kind: KeyKind
  recipient: PastRecipient
  /** The counter of what is sent to the recipient by this kind of key. */
  counter: { key: string }
  /** Null without a usable client address. */
  address: { networks: readonly NetworkName[]; abusive: boolean } | null
  circumstances: SendCircumstances
  /** It carries a code that its caller made, and is no verification. */
  isMessage: boolean
  /** The mode that its links have; absent where it was refused. */
  whatsapp?: WhatsAppMode
  /** It was canceled at a time that is not on record. */
  isCanceled?: true
  result: PastResult
}

/** A message of a verification after its first. */
export interface PastResend {
  what: 'resend'
  at: number
  id: string
  /** The verification. */
  otp_id: string
  /** The kind of the key that asked. No call asks for a fallback, nor for an answer in the chat. */
  by: KeyKind | 'fallback' | 'answer'
  /** A send asked for it, and joined the verification: it counts as a send of the recipient too. */
  joins?: true
  /** The channel that the call named. */
  requested: Channel | null
  /** The call brought a challenge solved at the highest difficulty. */
  hardest_challenge?: true
  /** The channel whose message failed, where this call is a fallback. */
  after?: Channel
  result: PastResult
}

export type PastEvent =
  | PastSend
  | PastResend
  /** Approved, failed or canceled. */
  | { what: 'end'; at: number; otp_id: string; approval: { sent_at: number | null } | null }
  /** A refund or a second charge of the price of a call's message. */
  | { what: 'refund' | 'recharge'; at: number; call_id: string }

export type PastCall = PastSend | PastResend

/** The verification of a call. */
export const otpIdOf = (call: PastCall): string => (call.what === 'send' ? call.id : call.otp_id)

/** Whether a wa.me link was made, and no message. */
export const isOnLink = ({ micros }: Accepted): boolean => micros === null

export const isRefused = (result: PastResult): result is Refused => 'type' in result
