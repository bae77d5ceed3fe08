// Checking a code. It is derived again and compared in constant time; the guess is counted in the same write that answers it, and
// wrong ones are counted across the recipient's verifications too, before the answer leaves.
import type { Clock } from '../../infra/clock.ts'
import { isSameSecret } from '../../infra/crypto/compare-secrets.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../infra/crypto/missing-key-reporter.ts'
import { newId } from '../../infra/ids.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import { type OtpCommand, step } from '../../machines/otp.step.ts'
import type { Reply } from '../../machines/otp.ts'
import { recipientIndexes } from '../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest, inFlight } from '../domain/verifications/encryption-context.ts'
import type { CachedApp } from './apps.ts'
import type { Commit } from './commit.ts'
import type { Limits } from './limits/limits.ts'
import { guessQuota, type Quota } from './limits/quotas.ts'
import type { TakeResult } from './limits/windows.ts'
import { limitRefusal, notFoundRefusal, refusalFromReply } from './refusals.ts'
import { NO_RESERVATION } from './reservation.ts'

/** All but what needs a key to be known. */
type UncheckedVerify = Omit<Extract<OtpCommand, { type: 'otp.verify' }>, 'right' | 'locked_ms'>
type VerifyCall = Extract<OtpCall, { type: 'otp.verify' }>

export interface VerifyDeps {
  keyring: Keyring
  clock: Clock
  limits: Limits
  commit: Commit
}

export const createVerify =
  ({ keyring, clock, limits, commit }: VerifyDeps) =>
  async (command_id: string, call: VerifyCall, app: CachedApp): Promise<OtpAnswer> => {
    const submittedCode = keyring.unseal(call.sealed_code, inFlight.code)
    const by = { key_id: call.by.key_id, kind: call.by.kind }
    const event_id = newId('evt', clock.now())
    const quotaOf = (doc: OtpDoc): Quota => {
      const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
      const indexes = recipientIndexes(keyring, doc, recipient)
      return guessQuota(doc, indexes, doc.context.started_by.kind, app.settings.limits)
    }
    let quota: Quota | null = null
    let countedQuota: Quota | null = null

    /** Null when a key of it is gone and none is needed: what is over is told to be over. */
    function compareCode(asked: UncheckedVerify, doc: OtpDoc): { right: boolean; quota: Quota } | null {
      try {
        return { right: isSameSecret(codeOf(keyring, doc), submittedCode), quota: quotaOf(doc) }
      } catch (error) {
        if (isMissingKeyError(error) && isDecided(asked, doc)) return null
        throw error
      }
    }

    const committed = await commit(call.otp_id, call.by, {
      async command(doc) {
        const asked: UncheckedVerify = { id: command_id, type: 'otp.verify', at: clock.now(), by, event_id }
        const comparison = compareCode(asked, doc)
        if (comparison === null) return asWrong(asked)
        quota = comparison.quota
        // Once counted, a guess that lost a race and is made again is within the limit, which it may itself have filled.
        const locked = countedQuota === null ? lockedMs(await limits.peek(comparison.quota)) : null
        return { ...asked, right: comparison.right, locked_ms: locked }
      },
      // Taken before the write, and for a right code as well as for a wrong one: of those that come in parallel, no more are ever
      // compared than the rule allows. Refused only when wrong, the others would still tell which was right.
      async reserve() {
        const asked = quota
        if (asked === null) return NO_RESERVATION
        const taken = await limits.take(asked)
        if (!taken.granted)
          return { ...NO_RESERVATION, refusal: limitRefusal('recipient_verify', taken.retry_after_ms) }
        countedQuota = asked
        const undo = async (): Promise<void> => {
          countedQuota = null
          await limits.giveBack(asked)
        }
        return { undo }
      },
    })
    if (committed === null) return notFoundRefusal()
    if ('refusal' in committed) return committed.refusal
    const { doc, reply } = committed
    if (countedQuota) await settleGuess(limits, countedQuota, reply)
    if (reply.kind === 'refused') return refusalFromReply(reply)
    if (reply.kind !== 'verified') throw new Error(`verify was told ${reply.kind}`)
    return {
      kind: 'verified',
      otp_id: doc._id,
      status: reply.status,
      matched: reply.matched,
      attempts_left: reply.attempts_left,
      sealed_token: reply.token ? keyring.seal(tokenOf(keyring, doc, by.key_id), inFlight.token) : null,
    }
  }

/** A right code counts for nothing; where that cannot be written now, its answer leaves all the same, and the count slides out. The
 *  wrong one that used the limit up locks the recipient for as long as the rule counts, also after approval, where it is told that it
 *  came too late. */
async function settleGuess(limits: Limits, quota: Quota, reply: Reply): Promise<void> {
  if (reply.kind === 'verified' && reply.matched) return limits.giveBack(quota).catch(() => {})
  const seconds = Math.max(0, ...quota.rules.map(rule => rule.seconds))
  if (!(await limits.peek(quota)).granted) await limits.lock(quota, seconds * 1000)
}

const asWrong = (asked: UncheckedVerify): OtpCommand => ({ ...asked, right: false, locked_ms: null })

/** Whether any code would be told the same, and changes nothing. */
function isDecided(asked: UncheckedVerify, doc: OtpDoc): boolean {
  const { changed, reply } = step(doc, asWrong(asked))
  return !changed && reply.kind === 'refused'
}

const lockedMs = (taken: TakeResult): number | null => (taken.granted ? null : taken.retry_after_ms)

export function codeOf(
  keyring: Pick<Keyring, 'code' | 'unseal'>,
  { _id: otpId, context }: Pick<OtpDoc, '_id' | 'context'>,
): string {
  const { secret, salt, length } = context.code
  return keyring.code(secret, {
    otpId,
    generation: context.generation,
    salt: keyring.unseal(salt, atRest.salt(otpId)),
    length,
  })
}

export const tokenOf = (keyring: Pick<Keyring, 'token'>, { _id: otpId, context }: OtpDoc, keyId: string): string =>
  keyring.token(context.code.secret, { otpId, generation: context.approval?.generation ?? context.generation, keyId })
