// Erases all data of one recipient in an app, in both modes, at the request of a data subject. In: an app and a recipient. Out: how many
// documents of each kind were erased. Pending verifications are canceled first, so that nothing is sent afterwards. An interrupted
// erasure is completed by repeating it.
//
// The journal is written before anything is erased: by it, what a restored backup brings back is erased again, by index, because the
// journal does not hold the recipient.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Doc, Docs, Filter } from '../../../infra/store/docs.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import { recordReport } from '../../../machines/otp.changes.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import { type Step, step } from '../../../machines/otp.step.ts'
import { MODES, type Otp } from '../../../machines/otp.ts'
import { countedUntil } from '../../../machines/windows.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import { forgetNumber, lastInHistory } from '../../domain/fraud/numbers.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { keepHoldEntry } from '../../domain/money/documents.ts'
import { CHECK_HOLD_AFTER_MS } from '../../domain/money/ledger-writer.ts'
import { erasureDoc } from '../../domain/privacy/documents.ts'
import { eraseVerifications, sumCounts } from '../../domain/privacy/erasure.ts'
import { eraseAnswersForOtps } from '../../domain/privacy/event-answers.ts'
import { forgetRecipientOfRules } from '../../domain/recipients/opt-outs.ts'
import { markErasedHours } from '../../domain/stats/erased-hours.ts'
import { type CounterDoc, END_OF_ROUND, findAttempts, type OtpDoc } from '../../domain/verifications/documents.ts'
import { entriesOf } from '../../domain/verifications/owed.ts'
import { type CountId, countIds, mailboxCountIndexes, recordIndexes, sandboxFilter } from './recipient-places.ts'
import type { ErasureAnswer } from './schemas.ts'

export const ZERO_COUNTS: ErasureAnswer = {
  verifications: 0,
  ended: 0,
  attempts: 0,
  messages: 0,
  events: 0,
  counters: 0,
  decisions: 0,
  refusals: 0,
  idempotency_keys: 0,
  blocks: 0,
  rules: 0,
}
/** What an app has under some keyed indexes of a recipient. What was made after `until` stays. */
interface Indexed {
  app_id: string
  indexes: readonly string[]
  until: number
}

const EVER = Number.MAX_SAFE_INTEGER
const OTP_BATCH_SIZE = 100
/** Older holds have been confirmed or checked, even if the sweeper is late. */
const MAX_UNCHECKED_MS = 60 * CHECK_HOLD_AFTER_MS
const REMOVE_BATCH_SIZE = 1_000
/** More batches mean that new verifications are created faster than they are erased. */
const MAX_BATCHES = 1_000

export interface ErasureDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes'>
  clock: Pick<Clock, 'now'>
  accounts: Pick<Accounts, 'enter'>
}

export function createErasures({ store, keyring, clock, accounts }: ErasureDeps) {
  const otps = store.docs('otps')

  /** Null after a lost race with another command. `canceled`: it was pending until this erasure. */
  async function cancelOtp(doc: OtpDoc): Promise<{ doc: OtpDoc; canceled: boolean } | null> {
    const next = step(doc, { id: `${doc._id}:erase`, type: 'otp.cancel', all: true, at: clock.now() })
    if (!next.changed) return { doc, canceled: false }
    return (await changeOne(otps, { _id: doc._id, rev: doc.rev, update: cancelUpdate(next) }))
      ? { doc: { ...doc, ...next.saved }, canceled: true }
      : null
  }

  /** A provider has the message of this queued delivery, or may have it: the call is under way, or its outcome is unknown. */
  async function mayHaveReachedProvider(delivery_id: string): Promise<boolean> {
    const attempts = await findAttempts(store.docs('attempts'), delivery_id)
    return attempts.some(({ provider, result }) => provider !== END_OF_ROUND && result !== 'failed')
  }

  /** What is still queued and no provider may have got fails: its verification is erased before it is sent. */
  async function failQueued(otp: Otp): Promise<Otp> {
    let after = otp
    for (const { delivery_id } of otp.deliveries.filter(({ status }) => status === 'queued'))
      if (!(await mayHaveReachedProvider(delivery_id)))
        after = recordReport(after, { delivery_id, status: 'failed', reason: 'superseded', at: clock.now() })
    return after
  }

  /** Refunds deliveries that will not be sent or have failed, because no report can refund an erased verification, and
   *  charges again what the approval charges again, because its outbox is erased too. Any other delivery stays paid, as
   *  it does when its verification ends in another way: otherwise a caller who erases while a provider is called would
   *  send for nothing. Without an entry that says so, the sweeper would give back a hold that it still has to check and
   *  whose delivery it no longer finds; and an erasure that is repeated would refund a queued message whose attempts,
   *  for which this one keeps the price, are erased by then. */
  async function refund({ _id, company_id, context }: OtpDoc): Promise<void> {
    for (const delivery of (await failQueued(context)).deliveries) {
      const { delivery_id, micros, created_at, charge, status } = delivery
      if (micros === 0) continue
      const entries = entriesOf(_id, delivery)
      for (const entry of entries) await accounts.enter(company_id, entry)
      const mustSayKept = charge === 'kept' || status === 'queued' || created_at > clock.now() - MAX_UNCHECKED_MS
      if (entries.length === 0 && mustSayKept) await accounts.enter(company_id, keepHoldEntry(_id, delivery_id))
    }
  }

  async function eraseOtps({ app_id, indexes, until }: Indexed): Promise<ErasureAnswer> {
    const filter = { recipient: { $in: [...indexes] }, created_at: { $lte: until } }
    let counts = ZERO_COUNTS
    for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
      const batch = await otps.find(filter, { sort: { _id: -1 }, limit: OTP_BATCH_SIZE })
      if (batch.length === 0) return counts
      const endedOtps = (await Promise.all(batch.map(cancelOtp))).filter(one => one !== null)
      const docs = endedOtps.map(({ doc }) => doc)
      await Promise.all(docs.map(refund))
      await markErasedHours(store, docs)
      const ids = docs.flatMap(({ context }) => idsOf(context))
      const events = ids.length === 0 ? 0 : await eraseAnswersForOtps(store, app_id, ids)
      const erased = await eraseVerifications(store, docs)
      counts = sumCounts(counts, {
        ...ZERO_COUNTS,
        ...erased,
        events,
        ended: endedOtps.filter(({ canceled }) => canceled).length,
      })
    }
    throw problem('ServiceUnavailableError', { detail: 'New data keeps arriving. Repeat the call to erase the rest.' })
  }

  const removeAll = async (remove: () => Promise<number>): Promise<number> => {
    let sum = 0
    for (let last = REMOVE_BATCH_SIZE; last === REMOVE_BATCH_SIZE; sum += last) last = await remove()
    return sum
  }

  /** Counts cannot be divided by time: what counted anything later stays whole, and is out within a week. */
  async function removeCounts<T extends Doc>(
    docs: Pick<Docs<T>, 'get' | 'remove'>,
    ids: readonly CountId[],
    { lastAt, until }: { lastAt(doc: T): number; until: number },
  ): Promise<number> {
    const counts = await docs.get(ids.map(({ id }) => id))
    const found = [...counts.values()].filter(doc => lastAt(doc) <= until).map(({ _id }) => _id)
    return found.length === 0 ? 0 : docs.remove({ _id: { $in: found } } as Filter<T>, found.length)
  }

  async function eraseCounts({ app_id, indexes, until }: Indexed): Promise<number> {
    const { counters, histories } = countIds(app_id, indexes)
    const lastAt = ({ windows, last_at }: CounterDoc) => Math.max(countedUntil(windows), last_at ?? 0)
    return (
      (await removeCounts(store.docs('counters'), counters, { lastAt, until })) +
      (await removeCounts(store.docs('fraud_numbers'), histories, { lastAt: lastInHistory, until }))
    )
  }

  async function eraseIndexed(indexed: Indexed): Promise<ErasureAnswer> {
    const otpCounts = await eraseOtps(indexed)
    // The fraud guard decides before a verification exists, and a refused send never has one.
    const filter = { recipient: { $in: [...indexed.indexes] }, at: { $lte: indexed.until } }
    const decisions = await removeAll(() => store.docs('fraud_decisions').remove(filter, REMOVE_BATCH_SIZE))
    const refusals = await removeAll(() => store.docs('refusals').remove(filter, REMOVE_BATCH_SIZE))
    const counters = await eraseCounts(indexed)
    const rules = await forgetRecipientOfRules(store.docs('recipient_rules'), indexed)
    return sumCounts(otpCounts, { ...ZERO_COUNTS, decisions, refusals, counters, rules })
  }

  async function eraseRecipient(app_id: string, recipient: string): Promise<ErasureAnswer> {
    const indexes = recordIndexes(keyring, app_id, recipient)
    const at = clock.now()
    await store.docs('erasures').insert(indexes.map(index => erasureDoc({ app_id, index, at })))
    const counts = await eraseIndexed({ app_id, indexes, until: EVER })
    // Limits count a mailbox, which the journal does not name: another address of it was not erased.
    const mailboxes = mailboxCountIndexes(keyring, app_id, recipient)
    const counters = await eraseCounts({ app_id, indexes: mailboxes, until: EVER })
    const messageFilter = sandboxFilter(keyring, app_id, recipient)
    const messages = await removeAll(() => store.docs('sandbox_messages').remove(messageFilter, REMOVE_BATCH_SIZE))
    const blockCounts = await Promise.all(MODES.map(mode => forgetNumber(store, keyring, { app_id, mode }, recipient)))
    const blocks = blockCounts.reduce((sum, count) => sum + count, 0)
    await store.forgetRemoved()
    return sumCounts(counts, { ...ZERO_COUNTS, messages, counters, blocks })
  }

  return { eraseRecipient, eraseIndexed }
}

const cancelUpdate = ({ saved: { value, context, last_commands, version } }: Step) => ({
  $set: { value, context, last_commands, version },
  $unset: { due_at: true as const },
})
