// Erases all data of one recipient in an app, in both modes, at the request of a data subject. In: an app and a recipient. Out: how many
// documents of each kind were erased. Pending verifications are canceled first, so that nothing is sent afterwards. An interrupted
// erasure is completed by repeating it.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import { recordReport } from '../../../machines/otp.changes.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import { type Step, step } from '../../../machines/otp.step.ts'
import { MODES, type Otp } from '../../../machines/otp.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import { forgetHistory, forgetNumber } from '../../domain/fraud/numbers.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { keepHoldEntry } from '../../domain/money/documents.ts'
import { CHECK_HOLD_AFTER_MS } from '../../domain/money/ledger-writer.ts'
import { eraseVerifications, sumCounts } from '../../domain/privacy/erasure.ts'
import { eraseAnswersForOtps } from '../../domain/privacy/event-answers.ts'
import { refusedRecipientIndexes } from '../../domain/refusals/refusal-log.ts'
import { markErasedHours } from '../../domain/stats/erased-hours.ts'
import {
  FORMER_RECIPIENT_COUNTS,
  RECIPIENT_COUNTS,
  recipientCounter,
} from '../../domain/verifications/counter-names.ts'
import { END_OF_ROUND, findAttempts, type OtpDoc } from '../../domain/verifications/documents.ts'
import { mailboxIndexes, recipientIndexes, sandboxIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { entriesOf } from '../../domain/verifications/owed.ts'
import { recipientFilter } from '../recipients.ts'
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
}
const OTP_BATCH_SIZE = 100
/** Older holds have been confirmed or checked, even if the sweeper is late. */
const MAX_UNCHECKED_MS = 60 * CHECK_HOLD_AFTER_MS
const REMOVE_BATCH_SIZE = 1_000
/** More batches mean that new verifications are created faster than they are erased. */
const MAX_BATCHES = 1_000

export interface EraseRecipientDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes'>
  clock: Pick<Clock, 'now'>
  accounts: Pick<Accounts, 'enter'>
}

export function createEraseRecipient({ store, keyring, clock, accounts }: EraseRecipientDeps) {
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

  async function eraseOtps(app_id: string, recipient: string): Promise<ErasureAnswer> {
    const filter = recipientFilter(keyring, app_id, recipient)
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

  return async (app_id: string, recipient: string): Promise<ErasureAnswer> => {
    const otpCounts = await eraseOtps(app_id, recipient)
    const appModes = MODES.map(mode => ({ app_id, mode }))
    // Sandbox messages may outlive their verification.
    const messageFilter = { app_id, recipient: { $in: sandboxIndexes(keyring, recipient) } }
    const messages = await removeAll(() => store.docs('sandbox_messages').remove(messageFilter, REMOVE_BATCH_SIZE))
    // The fraud guard decides before a verification exists, and a refused send never has one.
    const decisionFilter = recipientFilter(keyring, app_id, recipient)
    const decisions = await removeAll(() => store.docs('fraud_decisions').remove(decisionFilter, REMOVE_BATCH_SIZE))
    const refusalFilter = {
      recipient: { $in: appModes.flatMap(appMode => refusedRecipientIndexes(keyring, appMode, recipient)) },
    }
    const refusals = await removeAll(() => store.docs('refusals').remove(refusalFilter, REMOVE_BATCH_SIZE))
    const counterIds = appModes.flatMap(appMode => {
      const indexes = recipientIndexes(keyring, appMode, recipient)
      // Earlier releases counted an address as it was written. Most addresses are their mailbox, and then both are the same list.
      const allIndexes = [...new Set([mailboxIndexes(keyring, appMode, recipient, indexes), indexes])]
      return [...RECIPIENT_COUNTS, ...FORMER_RECIPIENT_COUNTS].flatMap(what =>
        allIndexes.flatMap(counted => {
          const { key, formerKeys = [] } = recipientCounter(appMode, what, counted)
          return [key, ...formerKeys]
        }),
      )
    })
    const limitCounters = await store.docs('counters').remove({ _id: { $in: counterIds } }, counterIds.length)
    const histories = await Promise.all(appModes.map(appMode => forgetHistory(store, keyring, appMode, recipient)))
    const counters = histories.reduce((sum, count) => sum + count, limitCounters)
    const blockCounts = await Promise.all(appModes.map(appMode => forgetNumber(store, keyring, appMode, recipient)))
    const blocks = blockCounts.reduce((sum, count) => sum + count, 0)
    return sumCounts(otpCounts, { ...ZERO_COUNTS, messages, counters, decisions, refusals, blocks })
  }
}

const cancelUpdate = ({ saved: { value, context, last_commands, version } }: Step) => ({
  $set: { value, context, last_commands, version },
  $unset: { due_at: true as const },
})
