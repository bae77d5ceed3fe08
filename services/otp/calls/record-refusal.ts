// Hands refused sends and resends to the record of refusals. In: a call, and what came of it. Out: a record, where it was refused. Other calls
// are not recorded, and an accepted one costs nothing here.
import type { ReceivedCall } from '../../../infra/broker/broker.ts'
import type { OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { RefusalLog } from '../../domain/refusals/refusal-log.ts'
import type { RefusedRecipient } from '../../domain/refusals/refused-recipient.ts'
import { retentionMs } from '../../domain/retention.ts'

/** What came of a send or a resend. */
export interface MessageResult {
  answer: OtpAnswer
  /** For the record of a refusal; absent where it is not known. */
  recipient?: RefusedRecipient
}

export interface CallResult extends MessageResult {
  /** Of the app; absent where they could not be read. */
  settings?: Pick<AppSettings, 'retention_days'>
}

const RECORDED_CALLS = { 'otp.send': 'send', 'otp.resend': 'resend' } as const

export const createRecordRefusal =
  (refusals: Pick<RefusalLog, 'record'>) =>
  (
    { trace }: Pick<ReceivedCall, 'trace'>,
    { type, by }: OtpCall,
    { answer, recipient, settings }: CallResult,
  ): void => {
    if (answer.kind !== 'refused' || (type !== 'otp.send' && type !== 'otp.resend')) return
    refusals.record({
      by,
      call: RECORDED_CALLS[type],
      request_id: trace?.request_id ?? null,
      type: answer.error,
      scope: answer.scope ?? null,
      recipient: recipient ?? null,
      retentionMs: retentionMs(settings ?? null, by.mode),
    })
  }
