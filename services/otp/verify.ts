// Checking a code. It is derived again and compared in constant time; the guess is counted in the same write that answers it, and
// wrong ones are counted across the recipient's verifications too, before the answer leaves.
import type { Clock } from '../../infra/clock.ts'
import { equal } from '../../infra/crypto/compare.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { isKeyProblem } from '../../infra/crypto/unopened.ts'
import { newId } from '../../infra/ids.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import { type OtpCommand, step } from '../../machines/otp.step.ts'
import type { Reply } from '../../machines/otp.ts'
import { recipientIndexes } from '../domain/verifications/counting.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest, inFlight } from '../domain/verifications/sealing.ts'
import type { KnownApp } from './apps.ts'
import type { Commit } from './commit.ts'
import type { Limits } from './limits/limits.ts'
import { guessQuota, type Quota } from './limits/quotas.ts'
import type { Taken } from './limits/windows.ts'
import { limited, notFound, refusalOf } from './refusals.ts'
import { NOTHING } from './reserve.ts'

/** All but what needs a key to be known. */
type Asked = Omit<Extract<OtpCommand, { type: 'otp.verify' }>, 'right' | 'locked_ms'>
type VerifyCall = Extract<OtpCall, { type: 'otp.verify' }>

export interface VerifyParts {
  keyring: Keyring
  clock: Clock
  limits: Limits
  commit: Commit
}

export const verifying =
  ({ keyring, clock, limits, commit }: VerifyParts) =>
  async (command_id: string, call: VerifyCall, app: KnownApp): Promise<OtpAnswer> => {
    const given = keyring.unseal(call.sealed_code, inFlight.code)
    const by = { key_id: call.by.key_id, kind: call.by.kind }
    const event_id = newId('evt', clock.now())
    const quotaOf = (doc: OtpDoc): Quota => {
      const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
      const indexes = recipientIndexes(keyring, doc, recipient)
      return guessQuota(doc, indexes, doc.context.started_by.kind, app.settings.limits)
    }
    let quota: Quota | null = null
    let counted: Quota | null = null

    /** Null when a key of it is gone and none is needed: what is over is told to be over. */
    function opened(asked: Asked, doc: OtpDoc): { right: boolean; quota: Quota } | null {
      try {
        return { right: equal(codeOf(keyring, doc), given), quota: quotaOf(doc) }
      } catch (error) {
        if (isKeyProblem(error) && isDecided(asked, doc)) return null
        throw error
      }
    }

    const committed = await commit(call.otp_id, call.by, {
      async command(doc) {
        const asked: Asked = { id: command_id, type: 'otp.verify', at: clock.now(), by, event_id }
        const known = opened(asked, doc)
        if (known === null) return blind(asked)
        quota = known.quota
        // Once counted, a guess that lost a race and is made again is within the limit, which it may itself have filled.
        const locked = counted === null ? lockedMs(await limits.look(known.quota)) : null
        return { ...asked, right: known.right, locked_ms: locked }
      },
      // Taken before the write, and for a right code as well as for a wrong one: of those that come in parallel, no more are ever
      // compared than the rule allows. Refused only when wrong, the others would still tell which was right.
      async reserve() {
        const asked = quota
        if (asked === null) return NOTHING
        const taken = await limits.take(asked)
        if (!taken.granted) return { ...NOTHING, refusal: limited('recipient_verify', taken.retry_after_ms) }
        counted = asked
        const undo = async (): Promise<void> => {
          counted = null
          await limits.giveBack(asked)
        }
        return { undo }
      },
    })
    if (committed === null) return notFound()
    if ('refusal' in committed) return committed.refusal
    const { doc, reply } = committed
    if (counted) await settle(limits, counted, reply)
    if (reply.kind === 'refused') return refusalOf(reply)
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
async function settle(limits: Limits, quota: Quota, reply: Reply): Promise<void> {
  if (reply.kind === 'verified' && reply.matched) return limits.giveBack(quota).catch(() => {})
  const seconds = Math.max(0, ...quota.rules.map(rule => rule.seconds))
  if (!(await limits.look(quota)).granted) await limits.lock(quota, seconds * 1000)
}

const blind = (asked: Asked): OtpCommand => ({ ...asked, right: false, locked_ms: null })

/** Whether any code would be told the same, and changes nothing. */
function isDecided(asked: Asked, doc: OtpDoc): boolean {
  const { changed, reply } = step(doc, blind(asked))
  return !changed && reply.kind === 'refused'
}

const lockedMs = (taken: Taken): number | null => (taken.granted ? null : taken.retry_after_ms)

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
