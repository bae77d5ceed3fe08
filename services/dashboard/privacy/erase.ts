// POST /apps/{id}/erase: all that is kept of one recipient in an app, in both of its modes, goes at once: the answer to the request of a
// data subject. What is pending ends first, so nothing is sent afterwards. Asked again, or after it was cut off, it does what is
// left to do. The audit log keeps a fingerprint: who knows the recipient can show that it was done, nobody else learns who it was.
import { z } from 'zod'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { type Step, step } from '../../../machines/otp.step.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import { forgetNumber } from '../../domain/fraud/blocks.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { keepOf, refundOf } from '../../domain/money/documents.ts'
import { CHECK_AFTER_MS } from '../../domain/money/moving.ts'
import { eraseVerifications, summed } from '../../domain/privacy/erasing.ts'
import { eraseAnswers } from '../../domain/privacy/events.ts'
import { RECIPIENT_COUNTS, recipientCounter, recipientIndexes } from '../../domain/verifications/counting.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { recipientKey, sandboxIndexes } from '../../domain/verifications/sealing.ts'
import type { Resource } from '../admin.ts'
import { found } from '../requests.ts'
import { canonical } from '../verifications/recipients.ts'
import { MODES, verificationsOf } from '../verifications/verifications.ts'

const given = z.strictObject({ recipient: z.string().min(1).max(512) })

const NOTHING = {
  ...{ verifications: 0, ended: 0, attempts: 0, messages: 0, events: 0 },
  ...{ counters: 0, decisions: 0, idempotency_keys: 0, blocks: 0 },
}
type Report = typeof NOTHING

const BATCH = 100
/** The sweeper may be late. */
const UNCHECKED_MS = 60 * CHECK_AFTER_MS
const PAGE = 1_000
/** Of a batch each: past them somebody sends faster than this erases. */
const MOST_ROUNDS = 1_000

export const erase: Resource = (router, { store, keyring, clock, accounts, body, audited }) => {
  const erasing = eraser({ store, keyring, clock, accounts })
  router.post('/apps/:id/erase', async ctx => {
    const { _id: app_id, company_id } = await found(store.docs('apps'), ctx.params.id, 'app')
    const { recipient } = await body(ctx, given)
    const whom = canonical(recipient)
    ctx.body = await audited(ctx, async () => ({
      ...{ action: 'recipient.erase', target: app_id, company_id },
      before: { verifications: await store.docs('otps').count(verificationsOf(keyring, app_id, whom)) },
      after: { recipient: fingerprintOf(keyring, app_id, whom) },
      perform: () => erasing(app_id, whom),
    }))
  })
}

/** In a scope of its own: nothing else in the store has it. */
const fingerprintOf = (keyring: Pick<Keyring, 'index'>, app_id: string, recipient: string): string =>
  keyring.index(`erased recipient:${app_id}`, recipientKey(recipient)).slice(0, 16)

export interface EraserParts {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes'>
  clock: Pick<Clock, 'now'>
  accounts: Pick<Accounts, 'enter'>
}

export function eraser({ store, keyring, clock, accounts }: EraserParts) {
  const otps = store.docs('otps')

  /** As the machine ends it; null when somebody else was faster. What time has ended already stays as it is. */
  async function ended(doc: OtpDoc): Promise<{ doc: OtpDoc; now: boolean } | null> {
    const next = step(doc, { id: `${doc._id}:erase`, type: 'otp.cancel', at: clock.now() })
    if (!next.changed) return { doc, now: false }
    const [answer] = await otps.change([{ _id: doc._id, rev: doc.rev, update: ending(next) }])
    return answer === 'won' ? { doc: { ...doc, ...next.saved }, now: true } : null
  }

  /** What will not be sent, and what failed, is given back: nobody will be there to say so. What was sent is paid for, also while
   *  the sweeper has not looked for it yet. */
  async function refund({ _id, company_id, context }: OtpDoc): Promise<void> {
    for (const { delivery_id, status, micros, created_at } of context.deliveries) {
      const back = status === 'queued' || status === 'failed'
      if (micros > 0 && back) await accounts.enter(company_id, refundOf(_id, delivery_id, micros))
      else if (micros > 0 && created_at > clock.now() - UNCHECKED_MS)
        await accounts.enter(company_id, keepOf(_id, delivery_id))
    }
  }

  async function eraseOtps(app_id: string, recipient: string): Promise<Report> {
    const filter = verificationsOf(keyring, app_id, recipient)
    let report = NOTHING
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
      const batch = await otps.find(filter, { sort: { _id: -1 }, limit: BATCH })
      if (batch.length === 0) return report
      const over = (await Promise.all(batch.map(ended))).filter(one => one !== null)
      await Promise.all(over.map(({ doc }) => refund(doc)))
      const ids = over.map(({ doc }) => doc._id)
      const events = ids.length === 0 ? 0 : await eraseAnswers(store, app_id, ids)
      const erased = await eraseVerifications(
        store,
        over.map(({ doc }) => doc),
      )
      report = summed(report, { ...NOTHING, ...erased, events, ended: over.filter(({ now }) => now).length })
    }
    throw problem('ServiceUnavailableError', { detail: 'There is ever more of it. Ask again to erase the rest.' })
  }

  /** More than a page of them is a recipient nobody has. */
  const removeAll = async (remove: () => Promise<number>): Promise<number> => {
    let sum = 0
    for (let last = PAGE; last === PAGE; sum += last) last = await remove()
    return sum
  }

  return async (app_id: string, recipient: string): Promise<Report> => {
    const report = await eraseOtps(app_id, recipient)
    const worlds = MODES.map(mode => ({ app_id, mode }))
    // Of verifications that went before theirs.
    const inbox = { app_id, recipient: { $in: sandboxIndexes(keyring, recipient) } }
    const messages = await removeAll(() => store.docs('sandbox_messages').remove(inbox, PAGE))
    // The guard decides before there is a verification, and of many there never is one.
    const decided = verificationsOf(keyring, app_id, recipient)
    const decisions = await removeAll(() => store.docs('fraud_decisions').remove(decided, PAGE))
    const names = worlds.flatMap(world => {
      const indexes = recipientIndexes(keyring, world, recipient)
      return RECIPIENT_COUNTS.flatMap(what => {
        const { key, formerly } = recipientCounter(world, what, indexes)
        return [key, ...formerly]
      })
    })
    const counters = await store.docs('counters').remove({ _id: { $in: names } }, names.length)
    const forgotten = await Promise.all(worlds.map(world => forgetNumber(store, keyring, world, recipient)))
    const blocks = forgotten.reduce((sum, count) => sum + count, 0)
    return summed(report, { ...NOTHING, messages, counters, decisions, blocks })
  }
}

const ending = ({ saved: { value, context, last_commands, version } }: Step) => ({
  $set: { value, context, last_commands, version },
  $unset: { due_at: true as const },
})
