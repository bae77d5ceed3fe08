// Records refused sends, resends and messages. In: a refusal. Out: the metric, the listener's count, and a document
// that is written in the background, so that no caller waits for it. In a flood only a number per minute is stored, the
// rest is only counted. The records are best effort: a process that crashes, or cannot reach the store, loses those
// that it has not written.
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import { batchDocs } from '../../../infra/store/batched-docs.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { createUnderWay } from '../../../infra/under-way.ts'
import type { Identity, LimitScope } from '../../../machines/calls.ts'
import { REFUSAL_RETENTION_MS } from '../retention.ts'
import { type AppMode, recipientIndexes } from '../verifications/lookup-indexes.ts'
import { lookupForm, maskRecipient, type ParsedRecipient } from '../verifications/valid-recipient.ts'
import type { RefusalDoc, RefusalType, RefusedCall } from './documents.ts'

export interface RefusedRecipient {
  country: string | null
  /** Null for a text that is no recipient: no part of it is certain to be harmless. */
  masked: string | null
  /** Keyed. */
  index: string
}

/** Under every data key, the current one first. Texts that are no recipient are indexed too: a number that was sent
 *  with spaces or without its plus is found, and erased, by any spelling. In other texts a space counts as a plus,
 *  because a plus in a query arrives as a space. */
export const refusedRecipientIndexes = (keyring: Pick<Keyring, 'indexes'>, appMode: AppMode, text: string): string[] =>
  recipientIndexes(keyring, appMode, lookupForm(text).replaceAll(' ', '+'))

/** `recipient`: null for a text that is no recipient. */
export const refusedRecipient = (
  keyring: Pick<Keyring, 'indexes'>,
  appMode: AppMode,
  text: string,
  recipient: ParsedRecipient | null,
): RefusedRecipient => ({
  country: recipient?.kind === 'phone' ? recipient.country : null,
  masked: recipient === null ? null : maskRecipient(recipient),
  /** Computed when it is stored: of a flood of refusals most are only counted. */
  get index() {
    return refusedRecipientIndexes(keyring, appMode, recipient?.value ?? text)[0] ?? ''
  },
})

export interface NewRefusal {
  by: Identity
  /** What was refused. */
  call: 'send' | 'resend' | 'message'
  request_id: string | null
  type: RefusalType
  scope: LimitScope | null
  /** Null where it is not known. */
  recipient: RefusedRecipient | null
  /** How the call can be judged again. Asked for once it is stored: of a flood of refusals most are only counted. */
  judged?(refusal_id: string): RefusedCall
  /** How long data of recipients is kept; absent where there is no recipient. */
  retentionMs?: number
}

/** What a listener is told of every refusal, stored or not. */
export interface CountedRefusal extends Identity {
  call: NewRefusal['call']
  type: RefusalType
  scope: LimitScope | null
  country: string | null
  at: number
}

export interface RefusalLog {
  record(refusal: NewRefusal): void
  settled(): Promise<void>
}

export interface RefusalLogDeps {
  refusals: Docs<RefusalDoc>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
  metrics: Pick<Metrics, 'refusals'>
  /** Called once for every refusal, also for those that are not stored. It must not throw or wait. */
  onRefusal?(refusal: CountedRefusal): void
}

/** Stored refusals of one app's sends, of its resends, and of calls that had to solve a challenge, by its servers, and by its devices, in
 *  one process. */
export const MAX_REFUSALS_PER_MINUTE = 60
const MAX_COUNTED_APPS = 20_000
/** Refusals that wait for a slow store; more are not stored. */
const MAX_WAITING = 1_000

export function createRefusalLog({ refusals, clock, log, metrics, onRefusal }: RefusalLogDeps): RefusalLog {
  const docs = batchDocs(refusals)
  const stored = createBoundedMap<{ minute: number; count: number }>(MAX_COUNTED_APPS)
  const writing = createUnderWay()

  function isStored({ by, call, type }: NewRefusal, at: number): boolean {
    if (writing.size() >= MAX_WAITING) return false
    // Callers that resend too early must not use up what their app's refused sends are stored with, nor anyone who has read a publishable
    // key what its servers' are, nor challenges what refusals are.
    const subject = type === 'ChallengeRequiredError' ? 'challenge' : call
    const key = `${subject}:${by.kind}:${by.app_id}`
    const minute = Math.floor(at / MINUTE_MS)
    const before = stored.get(key)
    const count = before?.minute === minute ? before.count : 0
    if (count >= MAX_REFUSALS_PER_MINUTE) return false
    stored.set(key, { minute, count: count + 1 })
    return true
  }

  return {
    record(refusal) {
      const at = clock.now()
      const { by, call, type, scope, recipient } = refusal
      metrics.refusals.inc({ mode: by.mode, type, scope: scope ?? 'none' })
      onRefusal?.({ ...by, call, type, scope, country: recipient?.country ?? null, at })
      if (!isStored(refusal, at)) return
      writing.add(
        docs
          .insert([refusalDoc(refusal, at)])
          .catch(error => log.warn({ err: error, app_id: by.app_id }, 'refusal.lost')),
      )
    },
    settled: writing.settled,
  }
}

const refusalDoc = (
  { by, request_id, type, scope, recipient, judged, retentionMs = REFUSAL_RETENTION_MS }: NewRefusal,
  at: number,
  _id = newId('rfs', at),
): RefusalDoc => ({
  _id,
  company_id: by.company_id,
  app_id: by.app_id,
  mode: by.mode,
  key_id: by.key_id,
  at,
  request_id,
  type,
  scope,
  country: recipient?.country ?? null,
  masked: recipient?.masked ?? null,
  ...(recipient === null ? {} : { recipient: recipient.index }),
  ...(judged && { judged: judged(_id) }),
  purge_at: new Date(at + Math.min(retentionMs, REFUSAL_RETENTION_MS)),
})
