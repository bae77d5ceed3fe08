// What comes of a call. In: the result of its commit. Out: the verification object, or a refusal. Of a refused send or resend also: what is
// recorded of it, so that it can be judged again by other settings.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { CallOf, LimitUse, OtpAnswer } from '../../../machines/calls.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import { type RefusedCall, type RefusedPerson, refusedPersonContext } from '../../domain/refusals/documents.ts'
import type { RefusedRecipient } from '../../domain/refusals/refusal-log.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { acceptRecipient } from '../../domain/verifications/valid-recipient.ts'
import type { CommitResult } from '../commit/commit.ts'
import type { JudgedAddress } from '../limits/reputation.ts'
import { notFoundRefusal, refusalFromReply } from '../refusals.ts'

/** What came of a send or a resend. */
export interface SendResult {
  answer: OtpAnswer
  /** For the record of a refusal; absent where it is not known. */
  recipient?: RefusedRecipient
  /** The client address of a send, as far as it was judged. */
  client?: JudgedAddress | null
}

export function verificationAnswer(committed: CommitResult | null, at: number, limit?: LimitUse): OtpAnswer {
  if (committed === null) return notFoundRefusal()
  if ('refusal' in committed) return committed.refusal
  const { doc, reply } = committed
  return reply.kind === 'refused'
    ? refusalFromReply(reply)
    : { kind: 'verification', verification: verificationView(doc, at), ...(limit ? { limit } : {}) }
}

/** The record is made when it is stored: of a flood of refusals most are only counted. */
type MakeRecord = (refusal_id: string) => RefusedCall

/** Null where it cannot be judged again: its recipient is not valid, or was not read. */
export function refusedSend(
  keyring: Pick<Keyring, 'seal' | 'unseal'>,
  { by, channel, without_link, sealed_code, sealed_recipient }: CallOf<'otp.send'>,
  recipient: RefusedRecipient | null,
  client: JudgedAddress | null,
): MakeRecord | null {
  if (recipient === null || recipient.masked === null) return null
  return refusal_id => {
    const text = keyring.unseal(sealed_recipient, inFlight.recipient)
    const person: RefusedPerson = {
      recipient: acceptRecipient(text, by.mode)?.parsed.value ?? text,
      client_ip: client?.value ?? null,
    }
    return {
      call: sealed_code === undefined ? 'send' : 'message',
      kind: by.kind,
      sealed: keyring.seal(JSON.stringify(person), refusedPersonContext(refusal_id)),
      ...(channel && { channel }),
      ...(without_link && { without_link }),
      ...(client && client.reputation !== 'unknown' && { reputation: client.reputation }),
    }
  }
}

export const refusedResend =
  ({ by, otp_id, channel }: CallOf<'otp.resend'>): MakeRecord =>
  () => ({ call: 'resend', kind: by.kind, otp_id, ...(channel && { channel }) })
