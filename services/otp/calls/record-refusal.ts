// Hands what the OTP actor refuses of sends, resends and messages to the record of refusals;
// ../../edge/record-refusal.ts does it for the edge. In: a call and what came of it. Out: a record, with what it takes
// to judge the call again by other settings.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf, Identity, OtpCall } from '../../../machines/calls.ts'
import { askedRoute } from '../../../machines/routing.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { type RefusedCall, type RefusedPerson, refusedPersonContext } from '../../domain/refusals/documents.ts'
import type { RefusalLog, RefusedRecipient } from '../../domain/refusals/refusal-log.ts'
import { retentionMs } from '../../domain/retention.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { acceptRecipient } from '../../domain/verifications/valid-recipient.ts'
import type { JudgedAddress } from '../limits/reputation.ts'
import type { SendCall, SendResult } from './send.ts'

export interface RefusalDeps {
  refusals: Pick<RefusalLog, 'record'>
  keyring: Pick<Keyring, 'seal' | 'unseal'>
}

export interface CallResult extends SendResult {
  /** The settings of the app; absent where they could not be read. */
  settings?: Pick<AppSettings, 'retention_days'>
}

/** An accepted call costs nothing here. */
export function recordRefusal(
  { refusals, keyring }: RefusalDeps,
  call: OtpCall,
  result: CallResult,
  trace: Trace | undefined,
): void {
  const { type, by } = call
  const { answer, recipient = null, client = null, resend = null, solvedHardest = false, settings = null } = result
  if (answer.kind !== 'refused' || (type !== 'otp.send' && type !== 'otp.resend')) return
  const judged =
    type === 'otp.resend'
      ? refusedResend('resend', by, call)
      : resend
        ? refusedResend('send', by, resend)
        : refusedSend(keyring, call, recipient, client)
  refusals.record({
    by,
    call: type === 'otp.resend' ? 'resend' : call.sealed_code === undefined ? 'send' : 'message',
    ...(by.mode === 'live' &&
      judged && {
        judged: refusal_id => ({ ...judged(refusal_id), ...(solvedHardest && { hardest_challenge: true as const }) }),
      }),
    request_id: trace?.request_id ?? null,
    type: answer.error,
    scope: answer.scope ?? null,
    recipient,
    retentionMs: retentionMs(settings, by.mode),
  })
}

/** What is recorded of a refused call, so that it can be judged again by other settings. The record is made when it is
 *  stored: of a flood of refusals most are only counted. */
type MakeRecord = (refusal_id: string) => RefusedCall

/** Null where it cannot be judged again: its recipient is not valid, or was not read. */
function refusedSend(
  keyring: Pick<Keyring, 'seal' | 'unseal'>,
  call: SendCall,
  recipient: RefusedRecipient | null,
  client: JudgedAddress | null,
): MakeRecord | null {
  if (recipient === null || recipient.masked === null) return null
  return refusal_id => {
    const { by, sealed_code, sealed_recipient } = call
    const code = sealed_code === undefined ? null : keyring.unseal(sealed_code, inFlight.code)
    const text = keyring.unseal(sealed_recipient, inFlight.recipient)
    const person: RefusedPerson = {
      recipient: acceptRecipient(text, by.mode)?.parsed.value ?? text,
      client_ip: client?.value ?? null,
    }
    return {
      call: code === null ? 'send' : 'message',
      kind: by.kind,
      sealed: keyring.seal(JSON.stringify(person), refusedPersonContext(refusal_id)),
      ...askedRoute(call, code),
      ...(call.from_login && { from_login: true as const }),
      ...(client && client.reputation !== 'unknown' && { reputation: client.reputation }),
    }
  }
}

const refusedResend =
  (
    call: 'resend' | 'send',
    { kind }: Identity,
    { otp_id, channel }: Pick<CallOf<'otp.resend'>, 'otp_id' | 'channel'>,
  ): MakeRecord =>
  () => ({ call, kind, otp_id, ...(channel && { channel }) })
