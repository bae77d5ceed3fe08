// What is recorded of a refused call, so that it can be judged again by other settings. In: the call, and what was found out about it.
// Out: a function that makes the record, or null where a call cannot be judged: its recipient is not valid, or was not read.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { CallOf } from '../../../machines/calls.ts'
import { type RefusedCall, type RefusedPerson, refusedPersonContext } from '../../domain/refusals/documents.ts'
import type { RefusedRecipient } from '../../domain/refusals/refused-recipient.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { acceptRecipient } from '../../domain/verifications/valid-recipient.ts'
import type { JudgedAddress } from '../limits/reputation.ts'

type MakeRecord = (refusal_id: string) => RefusedCall

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
