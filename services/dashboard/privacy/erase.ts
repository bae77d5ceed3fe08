// POST /apps/{id}/erase: all that is kept of one recipient in an app, in both of its modes, goes at once: the answer to the request of a
// data subject. What is pending ends first, so nothing is sent afterwards. Asked again, or after it was cut off, it does what is
// left to do. The audit log keeps a fingerprint: who knows the recipient can show that it was done, nobody else learns who it was.
import { z } from 'zod'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { type Step, step } from '../../../machines/otp.step.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import { forgetNumber } from '../../domain/fraud/number-blocks.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { keepHoldEntry, refundEntry } from '../../domain/money/documents.ts'
import { CHECK_HOLD_AFTER_MS } from '../../domain/money/ledger-writer.ts'
import { eraseVerifications, sumCounts } from '../../domain/privacy/erasure.ts'
import { eraseAnswersForOtps } from '../../domain/privacy/event-answers.ts'
import { RECIPIENT_COUNTS, recipientCounter, recipientIndexes } from '../../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { recipientKey, sandboxIndexes } from '../../domain/verifications/encryption-context.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { getOr404 } from '../request-input.ts'
import { canonicalRecipient } from '../verifications/recipients.ts'
import { MODES, recipientFilter } from '../verifications/routes.ts'

const eraseBody = z.strictObject({ recipient: z.string().min(1).max(512) })

const ZERO_COUNTS = {
  verifications: 0,
  ended: 0,
  attempts: 0,
  messages: 0,
  events: 0,
  counters: 0,
  decisions: 0,
  idempotency_keys: 0,
  blocks: 0,
}
type ErasureCounts = typeof ZERO_COUNTS

const OTP_BATCH_SIZE = 100
/** The sweeper may be late. */
const MAX_UNCHECKED_MS = 60 * CHECK_HOLD_AFTER_MS
const REMOVE_BATCH_SIZE = 1_000
/** Of a batch each: past them somebody sends faster than this erases. */
const MAX_BATCHES = 1_000

export const addEraseRoutes: AddRoutes = (router, { store, keyring, clock, accounts, readBody, withAudit }) => {
  const eraseRecipient = createEraseRecipient({ store, keyring, clock, accounts })
  router.post('/apps/:id/erase', async ctx => {
    const { _id: app_id, company_id } = await getOr404(store.docs('apps'), ctx.params.id, 'app')
    const { recipient } = await readBody(ctx, eraseBody)
    const normalized = canonicalRecipient(recipient)
    ctx.body = await withAudit(ctx, async () => ({
      action: 'recipient.erase',
      target: app_id,
      company_id,
      before: { verifications: await store.docs('otps').count(recipientFilter(keyring, app_id, normalized)) },
      after: { recipient: fingerprintOf(keyring, app_id, normalized) },
      perform: () => eraseRecipient(app_id, normalized),
    }))
  })
}

/** In a scope of its own: nothing else in the store has it. */
const fingerprintOf = (keyring: Pick<Keyring, 'index'>, app_id: string, recipient: string): string =>
  keyring.index(`erased recipient:${app_id}`, recipientKey(recipient)).slice(0, 16)

export interface EraserDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes'>
  clock: Pick<Clock, 'now'>
  accounts: Pick<Accounts, 'enter'>
}

export function createEraseRecipient({ store, keyring, clock, accounts }: EraserDeps) {
  const otps = store.docs('otps')

  /** As the machine ends it; null when somebody else was faster. What time has ended already stays as it is. */
  async function cancelOtp(doc: OtpDoc): Promise<{ doc: OtpDoc; now: boolean } | null> {
    const next = step(doc, { id: `${doc._id}:erase`, type: 'otp.cancel', at: clock.now() })
    if (!next.changed) return { doc, now: false }
    const [answer] = await otps.change([{ _id: doc._id, rev: doc.rev, update: cancelUpdate(next) }])
    return answer === 'won' ? { doc: { ...doc, ...next.saved }, now: true } : null
  }

  /** What will not be sent, and what failed, is given back: nobody will be there to say so. What was sent is paid for, also while
   *  the sweeper has not looked for it yet. */
  async function refund({ _id, company_id, context }: OtpDoc): Promise<void> {
    for (const { delivery_id, status, micros, created_at } of context.deliveries) {
      const isRefundable = status === 'queued' || status === 'failed'
      if (micros > 0 && isRefundable) await accounts.enter(company_id, refundEntry(_id, delivery_id, micros))
      else if (micros > 0 && created_at > clock.now() - MAX_UNCHECKED_MS)
        await accounts.enter(company_id, keepHoldEntry(_id, delivery_id))
    }
  }

  async function eraseOtps(app_id: string, recipient: string): Promise<ErasureCounts> {
    const filter = recipientFilter(keyring, app_id, recipient)
    let report = ZERO_COUNTS
    for (let rounds = 0; rounds < MAX_BATCHES; rounds += 1) {
      const batch = await otps.find(filter, { sort: { _id: -1 }, limit: OTP_BATCH_SIZE })
      if (batch.length === 0) return report
      const endedOtps = (await Promise.all(batch.map(cancelOtp))).filter(one => one !== null)
      await Promise.all(endedOtps.map(({ doc }) => refund(doc)))
      const ids = endedOtps.map(({ doc }) => doc._id)
      const events = ids.length === 0 ? 0 : await eraseAnswersForOtps(store, app_id, ids)
      const erased = await eraseVerifications(
        store,
        endedOtps.map(({ doc }) => doc),
      )
      report = sumCounts(report, {
        ...ZERO_COUNTS,
        ...erased,
        events,
        ended: endedOtps.filter(({ now }) => now).length,
      })
    }
    throw problem('ServiceUnavailableError', { detail: 'There is ever more of it. Ask again to erase the rest.' })
  }

  /** More than a page of them is a recipient nobody has. */
  const removeAll = async (remove: () => Promise<number>): Promise<number> => {
    let sum = 0
    for (let last = REMOVE_BATCH_SIZE; last === REMOVE_BATCH_SIZE; sum += last) last = await remove()
    return sum
  }

  return async (app_id: string, recipient: string): Promise<ErasureCounts> => {
    const report = await eraseOtps(app_id, recipient)
    const worlds = MODES.map(mode => ({ app_id, mode }))
    // Of verifications that went before theirs.
    const messageFilter = { app_id, recipient: { $in: sandboxIndexes(keyring, recipient) } }
    const messages = await removeAll(() => store.docs('sandbox_messages').remove(messageFilter, REMOVE_BATCH_SIZE))
    // The guard decides before there is a verification, and of many there never is one.
    const decisionFilter = recipientFilter(keyring, app_id, recipient)
    const decisions = await removeAll(() => store.docs('fraud_decisions').remove(decisionFilter, REMOVE_BATCH_SIZE))
    const counterIds = worlds.flatMap(appMode => {
      const indexes = recipientIndexes(keyring, appMode, recipient)
      return RECIPIENT_COUNTS.flatMap(what => {
        const { key, formerKeys } = recipientCounter(appMode, what, indexes)
        return [key, ...formerKeys]
      })
    })
    const counters = await store.docs('counters').remove({ _id: { $in: counterIds } }, counterIds.length)
    const blockCounts = await Promise.all(worlds.map(appMode => forgetNumber(store, keyring, appMode, recipient)))
    const blocks = blockCounts.reduce((sum, count) => sum + count, 0)
    return sumCounts(report, { ...ZERO_COUNTS, messages, counters, decisions, blocks })
  }
}

const cancelUpdate = ({ saved: { value, context, last_commands, version } }: Step) => ({
  $set: { value, context, last_commands, version },
  $unset: { due_at: true as const },
})
