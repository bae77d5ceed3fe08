// The attempts to send a delivery: one document per call of a provider. An attempt is written before the provider is called and its
// result after it, so an attempt without a result means that the message may have gone. An attempt at a `repeatable` provider is written
// once, with its result, after the call. An attempt names its maker, so that the process that made it can tell what it has done.
import { createHash, randomBytes } from 'node:crypto'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import type { Trace } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { RouteReason } from '../../machines/otp.ts'
import {
  type AttemptDoc,
  type AttemptMaker,
  type AttemptResult,
  END_OF_ROUND,
  findAttempts,
  type VendorDetails,
} from '../domain/verifications/documents.ts'
import type { DeliveryJob } from './provider.ts'

/** Which call of a delivery an attempt is. */
export interface AttemptKey {
  provider: string
  round: number
  /** 1 for the provider's first call in the round. */
  call: number
}

/** An attempt as it is stored, or the end of a round: then `provider` is `END_OF_ROUND`. */
export interface PastAttempt extends AttemptKey {
  at: number
  result: AttemptResult | null
  /** Since when the outcome is unknown, if it is. */
  unknownAt: number
  /** The process that made the attempt does not run any more, so that the call is not under way. */
  makerGone: boolean
  /** Why its provider was the first that was called for the delivery, if it was and there is a reason to store. */
  because?: RouteReason | undefined
  /** By the vendor's word, the recipient asked for no more messages. */
  unsubscribed?: true | undefined
}

export type NewAttempt = AttemptKey & Pick<PastAttempt, 'because'>

export interface StartedAttempt extends PastAttempt {
  id: string
  /** False when the store already held an attempt with this key that this process did not just make. */
  isNew: boolean
}

export interface AttemptOutcome {
  result: AttemptResult
  reference: string | null
  details: VendorDetails
  unsubscribed?: true
}

export interface ProviderAttempts {
  /** Saves an attempt before its call. When it rejects, the provider was not called, and this process can start the same attempt again. */
  start(job: DeliveryJob, call: NewAttempt): Promise<StartedAttempt>
  /** Makes an attempt, from its start to its finish, so that `history` waits for it. */
  track<T>(job: DeliveryJob, attempt: () => Promise<T>): Promise<T>
  finish(attempt: StartedAttempt, outcome: AttemptOutcome): Promise<void>
  /** Removes an attempt that was started and whose provider was not called. */
  withdraw(attempt: StartedAttempt): Promise<void>
  /** Saves an attempt after its call, for providers that may be called twice. */
  record(job: DeliveryJob, attempt: Omit<NewAttempt, 'call'> & Pick<PastAttempt, 'at'> & AttemptOutcome): Promise<void>
  /** No provider accepted the message in this round. Repeatable. */
  endRound(job: DeliveryJob, round: number): Promise<void>
  /** Waits for an attempt that this process is making for the delivery. */
  history(job: DeliveryJob): Promise<PastAttempt[]>
}

export interface ProviderAttemptsDeps {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'insert' | 'update' | 'modify' | 'find' | 'remove'>
  clock: Pick<Clock, 'now'>
  /** No other process uses the store, so an attempt of another process was made before that process ended. */
  soleProcess: boolean
}

/** Providers' names contain no colon, so no two attempts share an id. A first round and a first call have no number in their ids. */
export const attemptId = (delivery_id: string, provider: string, round: number, call = 1): string => {
  if (call > 1) return `${delivery_id}:${provider}:${round}:${call}`
  return round === 1 && provider !== END_OF_ROUND ? `${delivery_id}:${provider}` : `${delivery_id}:${provider}:${round}`
}

/** A vendor's id of a message, as it is stored and searched for. Meta's id contains the recipient's number, so its hash
 *  is stored instead. */
export const storedReference = (reference: string): string =>
  reference.startsWith('wamid.') ? `wamid:${createHash('sha256').update(reference).digest('base64url')}` : reference

/** Where spans are recorded, so that a receipt finds the trace of its message. */
const spanOf = (trace: Trace | undefined): Pick<AttemptDoc, 'trace'> =>
  trace?.traced_at !== undefined && trace.traceparent?.endsWith('-01')
    ? { trace: { traceparent: trace.traceparent, traced_at: trace.traced_at } }
    : {}

export function createProviderAttempts({ attempts, clock, soleProcess }: ProviderAttemptsDeps): ProviderAttempts {
  const own = createOwnAttempts()
  const processId = randomBytes(9).toString('base64url')
  let tries = 0

  const newAttemptDocument = (
    { otp, delivery, purge_at, trace }: DeliveryJob,
    { provider, round, call, because }: NewAttempt,
  ): AttemptDoc => {
    const { otp_id, app_id } = otp
    const { delivery_id, channel } = delivery
    const doc: AttemptDoc = {
      _id: attemptId(delivery_id, provider, round, call),
      otp_id,
      app_id,
      delivery_id,
      channel,
      provider,
      round,
      purge_at,
      rev: 1,
      at: clock.now(),
      result: null,
      reference: null,
      ...spanOf(trace),
    }
    if (call > 1) doc.call = call
    if (because !== undefined) doc.because = because
    return doc
  }

  const isOwn = ({ maker }: AttemptDoc): boolean => maker?.process === processId

  const pastAttempt = (doc: AttemptDoc): PastAttempt => ({
    provider: doc.provider,
    round: doc.round,
    call: doc.call ?? 1,
    at: doc.at,
    result: doc.result ?? own.resultOf(doc._id) ?? null,
    unknownAt: doc.unknown_at ?? doc.at,
    makerGone: soleProcess && !isOwn(doc),
    because: doc.because,
    unsubscribed: doc.unsubscribed,
  })

  /** The attempt that the store holds under this id: this one, unless there was one before. */
  async function insertOrFind(doc: AttemptDoc): Promise<AttemptDoc> {
    const [inserted] = await attempts.insert([doc])
    return inserted === 'duplicate' ? ((await getOne(attempts, doc._id)) ?? doc) : doc
  }

  /** The store may have written the attempt and its answer was lost. The second try then finds the first, by its maker. */
  async function insertOrFindTwice(doc: AttemptDoc): Promise<AttemptDoc> {
    try {
      return await insertOrFind(doc)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
    try {
      return await insertOrFind(doc)
    } catch (error) {
      own.markUncalled(doc._id)
      throw error
    }
  }

  return {
    async start(job, call) {
      tries += 1
      const maker: AttemptMaker = { process: processId, try: tries }
      const stored = await insertOrFindTwice({ ...newAttemptDocument(job, call), maker })
      const isNew = isOwn(stored) && (stored.maker?.try === maker.try || own.takeUncalled(stored._id))
      return { ...pastAttempt(stored), id: stored._id, isNew }
    },

    track: ({ delivery: { delivery_id } }, attempt) => own.track(delivery_id, attempt),

    async finish({ id }, { result, reference: vendorReference, details, unsubscribed }) {
      const reference = vendorReference && storedReference(vendorReference)
      const unknown = result === 'unknown' ? { unknown_at: clock.now() } : {}
      const update = { $set: { result, reference, ...details, ...unknown, ...(unsubscribed && { unsubscribed }) } }
      try {
        if (result === 'accepted') await attempts.update([{ ids: [id], update }])
        // A receipt that came before the answer knows better.
        else await attempts.modify({ _id: id, result: null }, update)
      } catch (error) {
        own.keepResult(id, result)
        throw error
      }
    },

    async withdraw({ id }) {
      // Should the store not answer, this process still knows that it has not called.
      own.markUncalled(id)
      await attempts.remove({ _id: id, result: null }, 1)
      own.takeUncalled(id)
    },

    async record(job, { at, result, reference: vendorReference, details, unsubscribed: _, ...call }) {
      const reference = vendorReference && storedReference(vendorReference)
      const outcome = { at, result, reference, ...details }
      const doc = { ...newAttemptDocument(job, { ...call, call: 1 }), ...outcome }
      const [inserted] = await attempts.insert([doc])
      if (inserted === 'duplicate') await attempts.update([{ ids: [doc._id], update: { $set: outcome } }])
    },

    async endRound(job, round) {
      await attempts.insert([newAttemptDocument(job, { provider: END_OF_ROUND, round, call: 1 })])
    },

    async history({ delivery: { delivery_id } }) {
      let found: AttemptDoc[]
      // What was read while this process began an attempt does not say how that ended.
      do {
        await own.ended(delivery_id)
        found = await findAttempts(attempts, delivery_id)
      } while (own.isUnderWay(delivery_id))
      // This process made such an attempt and has not called: the call is still to be made.
      return found.filter(doc => !(isOwn(doc) && own.isUncalled(doc._id))).map(pastAttempt)
    },
  }
}

/** What a process knows of its own attempts and the store may not: which attempts it is making now, which attempts it has not called for
 *  because the store did not answer, and results that the store did not take. In memory only: after a crash the store's word counts. */
interface OwnAttempts {
  /** Makes an attempt, from its record to its result, so that `ended` waits for it. */
  track<T>(delivery_id: string, attempt: () => Promise<T>): Promise<T>
  isUnderWay(delivery_id: string): boolean
  /** Resolves once this process makes no attempt for the delivery. */
  ended(delivery_id: string): Promise<void>
  /** The attempt may be in the store, but its provider was not called. */
  markUncalled(attempt_id: string): void
  isUncalled(attempt_id: string): boolean
  /** True for one caller, which then makes the call. */
  takeUncalled(attempt_id: string): boolean
  keepResult(attempt_id: string, result: AttemptResult): void
  resultOf(attempt_id: string): AttemptResult | undefined
}

/** The oldest are forgotten first. Then the store's word counts, as after a crash. A bounded map may keep only half of it. */
const MAX_REMEMBERED = 20_000

function createOwnAttempts(): OwnAttempts {
  const underWay = new Map<string, Promise<void>>()
  const uncalled = createBoundedMap<true>(MAX_REMEMBERED)
  const results = createBoundedMap<AttemptResult>(MAX_REMEMBERED)
  const isUncalled = (attempt_id: string): boolean => uncalled.get(attempt_id) === true

  return {
    async track(delivery_id, attempt) {
      let end = (): void => {}
      const ended = new Promise<void>(resolve => {
        end = resolve
      })
      const tracked = Promise.all([underWay.get(delivery_id), ended]).then(() => {
        if (underWay.get(delivery_id) === tracked) underWay.delete(delivery_id)
      })
      underWay.set(delivery_id, tracked)
      try {
        return await attempt()
      } finally {
        end()
      }
    },
    isUnderWay: delivery_id => underWay.has(delivery_id),
    ended: async delivery_id => underWay.get(delivery_id),
    markUncalled: attempt_id => uncalled.set(attempt_id, true),
    isUncalled,
    takeUncalled(attempt_id) {
      const taken = isUncalled(attempt_id)
      uncalled.delete(attempt_id)
      return taken
    },
    keepResult: (attempt_id, result) => results.set(attempt_id, result),
    resultOf: attempt_id => results.get(attempt_id),
  }
}
