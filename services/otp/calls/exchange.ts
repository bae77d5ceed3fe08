// Exchanges a device's token for the recipient that it proves. In: a token. Out: the recipient, or `no_such_token`. A token can be
// exchanged until it expires, by one API key. The answer does not tell why a token is refused, so that tokens cannot be probed.
import type { Clock } from '../../../infra/clock.ts'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import { parseToken } from '../../../infra/crypto/token.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf, OtpAnswer } from '../../../machines/calls.ts'
import { step } from '../../../machines/otp.step.ts'
import { atRest, inFlight } from '../../domain/verifications/encryption-context.ts'
import type { Commit } from '../commit.ts'
import { tokenOf } from './verify.ts'

export const createExchange =
  ({ keyring, clock, commit }: { keyring: Keyring; clock: Clock; commit: Commit }) =>
  async (command_id: string, call: CallOf<'token.exchange'>, trace: Trace | undefined): Promise<OtpAnswer> => {
    const token = keyring.unseal(call.sealed_token, inFlight.token)
    const otp_id = parseToken(token)?.otpId
    if (otp_id === undefined) return { kind: 'no_such_token' }
    let value = ''
    const committed = await commit(otp_id, call.by, {
      trace,
      command: doc => {
        const unchecked = { id: command_id, type: 'token.exchange', at: clock.now(), key_id: call.by.key_id } as const
        let genuine = true
        try {
          genuine = isSameSecret(tokenOf(keyring, doc, doc.context.approval?.by?.key_id ?? ''), token)
          // Unsealed before the commit, so that a missing key does not use up the exchange.
          value = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
        } catch (error) {
          // A missing key matters only if the token could otherwise be exchanged.
          if (!isMissingKeyError(error) || step(doc, { ...unchecked, genuine }).reply.kind === 'exchanged') throw error
        }
        return { ...unchecked, genuine }
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
