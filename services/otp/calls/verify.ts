// Verifies a code. In: the call with the code. Out: whether it matched, or a refusal. The right code is derived again and compared in
// constant time. A wrong code is counted in the write that decides the answer, and also for the recipient over all verifications.
import type { Clock } from '../../../infra/clock.ts'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CallOf, OtpAnswer } from '../../../machines/calls.ts'
import { magicOf } from '../../../machines/magic-recipients.ts'
import { isFirstGuess } from '../../../machines/otp.queries.ts'
import { type OtpCommand, step } from '../../../machines/otp.step.ts'
import type { Reply } from '../../../machines/otp.ts'
import type { Quota } from '../../../machines/quotas.ts'
import type { LimitRule } from '../../../machines/settings.ts'
import type { RuleUse } from '../../../machines/windows.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest, inFlight } from '../../domain/verifications/encryption-context.ts'
import { mailboxIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { codeOf } from '../../domain/verifications/message-content.ts'
import { eventIdFor } from '../../domain/webhooks/event-ids.ts'
import type { CachedApp } from '../apps.ts'
import type { Commit } from '../commit.ts'
import type { TakeResult } from '../limits/counters.ts'
import type { Limits } from '../limits/limits.ts'
import { type GuessQuotas, guessQuotas } from '../limits/quota-counters.ts'
import { limitRefusal, notFoundRefusal, refusalFromReply } from '../refusals.ts'
import { NO_RESERVATION, type Reservation } from '../reservation.ts'

/** The command without the members that need a key. */
type UncheckedVerify = Omit<Extract<OtpCommand, { type: 'otp.verify' }>, 'right' | 'locked_ms'>

/** A guess that is counted under a limit, and when. */
interface CountedGuess {
  quota: Quota
  at: number
}

export interface VerifyDeps {
  keyring: Keyring
  clock: Clock
  limits: Limits
  commit: Commit
  log: Pick<Logger, 'warn'>
}

export const createVerify =
  ({ keyring, clock, limits, commit, log }: VerifyDeps) =>
  async (
    command_id: string,
    call: CallOf<'otp.verify'>,
    app: CachedApp,
    trace: Trace | undefined,
  ): Promise<OtpAnswer> => {
    const submittedCode = keyring.unseal(call.sealed_code, inFlight.code)
    const by = { key_id: call.by.key_id, kind: call.by.kind }
    const quotasOf = (doc: OtpDoc): GuessQuotas => {
      const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
      const indexes = mailboxIndexes(keyring, doc, recipient)
      const kinds = { startedBy: doc.context.started_by.kind, guessedBy: by.kind }
      const { limits: own } = app.settings
      // All tests of an app share the magic recipients.
      return guessQuotas(doc, indexes, kinds, magicOf(doc.mode, recipient) ? { ...own, recipient_verify: [] } : own)
    }
    let quotas: GuessQuotas | null = null
    let counted: CountedGuess | null = null
    let use: RuleUse | undefined
    let waitsFor: LimitRule | undefined

    /** A guess that has its place in the limit, from a try that lost its race, may be the one that filled it: then only a lock counts. */
    async function lockedMs({ guesses }: GuessQuotas): Promise<number | null> {
      const { rules_ms, lock_ms, use: nearest } = await limits.waits(guesses)
      const wait = counted === null ? Math.max(rules_ms, lock_ms) : lock_ms
      if (wait === 0) return null
      waitsFor = nearest
      return wait
    }

    /** Null when a key is missing, but the verification would refuse any code: then the caller gets that refusal. */
    function compareCode(unchecked: UncheckedVerify, doc: OtpDoc): { right: boolean; quotas: GuessQuotas } | null {
      try {
        return { right: isSameSecret(codeOf(keyring, doc.context), submittedCode), quotas: quotasOf(doc) }
      } catch (error) {
        if (isMissingKeyError(error) && refusesAnyCode(unchecked, doc)) return null
        throw error
      }
    }

    function countedIn(toCount: Quota, taken: Extract<TakeResult, { granted: true }>): Reservation {
      counted = { quota: toCount, at: taken.at }
      use = taken.use
      const undo = async (): Promise<void> => {
        counted = null
        await limits.giveBack(toCount, taken.at)
      }
      return { undo }
    }

    const committed = await commit(call.otp_id, call.by, {
      trace,
      async command(doc) {
        const at = clock.now()
        const { otp_id } = call
        const event_id = eventIdFor(otp_id, at)
        const unchecked: UncheckedVerify = { id: command_id, type: 'otp.verify', at, otp_id, by, event_id }
        const comparison = compareCode(unchecked, doc)
        if (comparison === null) return withWrongCode(unchecked)
        quotas = comparison.quotas
        // Whether the lock holds for the first guess of a verification is decided where that guess is counted.
        const locked = isFirstGuess(doc.context, otp_id) ? null : await lockedMs(comparison.quotas)
        return { ...unchecked, right: comparison.right, locked_ms: locked }
      },
      // Every guess is counted before the write, right or wrong, so that parallel guesses are compared only as often as the rule
      // allows. If only wrong codes were refused beyond the limit, an answer without a refusal would reveal the right code.
      //
      // The first guess of a verification is let through while the limit is full or locked, and is then counted in a limit of its own with
      // the same rules. The write decides which guess is the first: of parallel ones only one wins it, and the others find a verification
      // that was guessed at, so they need a place in the ordinary limit.
      async reserve(_, doc) {
        if (quotas === null) return NO_RESERVATION
        const { guesses, firstGuesses } = quotas
        const taken = await limits.take(guesses)
        if (!isFirstGuess(doc.context, call.otp_id))
          return taken.granted ? countedIn(guesses, taken) : refusedFor(taken.retry_after_ms, taken.use)
        if (taken.granted) {
          if (taken.locked_ms === undefined) return countedIn(guesses, taken)
          await limits.giveBack(guesses, taken.at)
        }
        const letThrough = await limits.take(firstGuesses)
        if (letThrough.granted) return { ...countedIn(firstGuesses, letThrough), forOneTry: true }
        const untilUnlocked = (await lockedMs(quotas)) ?? letThrough.retry_after_ms
        return refusedFor(Math.min(untilUnlocked, letThrough.retry_after_ms), letThrough.use)
      },
    })
    if (committed === null) return notFoundRefusal()
    if ('refusal' in committed) return committed.refusal
    const { doc, reply } = committed
    if (counted && quotas)
      await settleGuess(limits, counted, quotas, reply).catch(error => {
        // The guess is counted, and its caller must learn that. Without the lock, the rule that is full still refuses the next ones.
        if (!(error instanceof Unavailable)) throw error
        log.warn({ otp_id: call.otp_id, why: error.message, ...requestOf({ trace }) }, 'recipient.not_locked')
      })
    if (reply.kind === 'refused') return refusalFromReply(reply, waitsFor)
    if (reply.kind !== 'verified') throw new Error(`unexpected reply to verify: ${reply.kind}`)
    return {
      kind: 'verified',
      otp_id: call.otp_id,
      status: reply.status,
      matched: reply.matched,
      attempts_left: reply.attempts_left,
      ...(use
        ? { limit: { scope: 'recipient_verify', ...use, remaining: use.remaining + (reply.matched ? 1 : 0) } }
        : {}),
      sealed_token: reply.token ? keyring.seal(tokenOf(keyring, doc, by.key_id), inFlight.token) : null,
      ...(reply.matched && !isApprovedBy(doc, command_id) ? { repeated: true } : {}),
    }
  }

/** Whether this command approved the verification: of the commands that were told that their code is right, it is the first. */
const isApprovedBy = ({ last_commands }: OtpDoc, command_id: string): boolean =>
  last_commands.find(({ reply }) => reply.kind === 'verified' && reply.matched)?.id === command_id

/** A right code is not counted: its count is given back. If that write fails, the answer is still sent, and the count slides out of its
 *  window. The wrong code that fills a rule locks the recipient for the length of that rule (the longest, if several are full), also when
 *  it comes after the approval. A lock is not prolonged while it lasts. A first guess that was let through beside the limit fills nothing
 *  of it: a stranger makes some of these. */
async function settleGuess(
  limits: Limits,
  { quota, at }: CountedGuess,
  { guesses }: GuessQuotas,
  reply: Reply,
): Promise<void> {
  if (reply.kind === 'verified' && reply.matched) return limits.giveBack(quota, at).catch(() => {})
  if (quota.key !== guesses.key) return
  const { full_rule_ms, lock_ms } = await limits.waits(guesses)
  if (full_rule_ms > 0 && lock_ms === 0) await limits.lock(guesses, full_rule_ms)
}

const refusedFor = (retry_after_ms: number, rule: LimitRule | undefined): Reservation => ({
  ...NO_RESERVATION,
  refusal: limitRefusal('recipient_verify', retry_after_ms, rule),
})

const withWrongCode = (unchecked: UncheckedVerify): OtpCommand => ({ ...unchecked, right: false, locked_ms: null })

/** Whether the verification is in a state that refuses every code without counting it. */
function refusesAnyCode(unchecked: UncheckedVerify, doc: OtpDoc): boolean {
  const { changed, reply } = step(doc, withWrongCode(unchecked))
  return !changed && reply.kind === 'refused'
}

export function tokenOf(keyring: Pick<Keyring, 'token'>, { _id: otpId, context }: OtpDoc, keyId: string): string {
  const { code, approval, generation } = context
  if ('given' in code) throw new Error('a message has no token')
  return keyring.token(code.secret, {
    otpId: approval?.otp_id ?? otpId,
    generation: approval?.generation ?? generation,
    keyId,
  })
}
