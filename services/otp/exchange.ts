// A device's token for the recipient it proves: once per API key, while it is young. Whatever is wrong with a token, the answer
// and the work done for it are the same.
import type { Clock } from '../../infra/clock.ts'
import { isSameSecret } from '../../infra/crypto/compare-secrets.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../infra/crypto/missing-key-reporter.ts'
import { parseToken } from '../../infra/crypto/token.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import { step } from '../../machines/otp.step.ts'
import { atRest, inFlight } from '../domain/verifications/encryption-context.ts'
import type { Commit } from './commit.ts'
import { tokenOf } from './verify.ts'

type ExchangeCall = Extract<OtpCall, { type: 'token.exchange' }>

export const createExchange =
  ({ keyring, clock, commit }: { keyring: Keyring; clock: Clock; commit: Commit }) =>
  async (command_id: string, call: ExchangeCall): Promise<OtpAnswer> => {
    const token = keyring.unseal(call.sealed_token, inFlight.token)
    const otp_id = parseToken(token)?.otpId
    if (otp_id === undefined) return { kind: 'no_such_token' }
    let value = ''
    const committed = await commit(otp_id, call.by, {
      command: doc => {
        const asked = { id: command_id, type: 'token.exchange', at: clock.now(), key_id: call.by.key_id } as const
        let genuine = true
        try {
          genuine = isSameSecret(tokenOf(keyring, doc, doc.context.approval?.by?.key_id ?? ''), token)
          // Before it counts as exchanged.
          value = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(otp_id))
        } catch (error) {
          // One that could not be exchanged anyway is told so, whatever became of its keys.
          if (!isMissingKeyError(error) || step(doc, { ...asked, genuine }).reply.kind === 'exchanged') throw error
        }
        return { ...asked, genuine }
      },
    })
    if (committed === null || 'refusal' in committed || committed.reply.kind !== 'exchanged')
      return { kind: 'no_such_token' }
    const { recipient, approval, channel } = committed.doc.context
    return {
      kind: 'exchanged',
      otp_id,
      sealed_recipient: keyring.seal(value, inFlight.recipient),
      recipient_type: recipient.kind,
      channel: approval?.channel ?? channel,
      verified_at: approval?.at ?? 0,
    }
  }
