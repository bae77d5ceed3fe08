// The attempts to send a delivery: one document per provider and round. An attempt is written before the provider is called and its
// result after it, so an attempt without a result means that the message may have gone. An attempt at a `repeatable` provider is written
// once, with its result, after the call.
import { createHash } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { AttemptDoc, AttemptResult } from '../domain/verifications/documents.ts'
import type { DeliveryJob } from './provider.ts'

/** An attempt as it is stored, or the end of a round: then `provider` is `END_OF_ROUND`. */
export type PastAttempt = Pick<AttemptDoc, 'provider' | 'round' | 'at' | 'result'>

export interface StartedAttempt extends PastAttempt {
  id: string
  /** False when the store already held an attempt of this delivery, provider and round. */
  isNew: boolean
}

export interface AttemptOutcome {
  result: AttemptResult
  reference: string | null
}

export interface Attempts {
  start(job: DeliveryJob, provider: string, round: number): Promise<StartedAttempt>
  finish(attempt: StartedAttempt, outcome: AttemptOutcome): Promise<void>
  /** Saves an attempt after its call, for providers that may be called twice. */
  record(job: DeliveryJob, attempt: PastAttempt & AttemptOutcome): Promise<void>
  /** No provider accepted the message in this round. Repeatable. */
  endRound(job: DeliveryJob, round: number): Promise<void>
  history(job: DeliveryJob): Promise<PastAttempt[]>
}

/** The end of a round is stored as an attempt with this in place of a provider's name. */
export const END_OF_ROUND = ''

/** Providers' names contain no colon, so no two attempts share an id. The first round has no number in its ids. */
export const attemptId = (delivery_id: string, provider: string, round: number): string =>
  round === 1 && provider !== END_OF_ROUND ? `${delivery_id}:${provider}` : `${delivery_id}:${provider}:${round}`

/** A vendor's id of a message, as it is stored and searched for. Meta's id contains the recipient's number, so its hash is stored instead. */
export const storedReference = (reference: string): string =>
  reference.startsWith('wamid.') ? `wamid:${createHash('sha256').update(reference).digest('base64url')}` : reference

/** More than any app has providers, times the rounds of a delivery. */
const MAX_ATTEMPTS_READ = 10_000

export function createAttempts({
  attempts,
  clock,
}: {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'insert' | 'update' | 'find'>
  clock: Pick<Clock, 'now'>
}): Attempts {
  const newAttemptDocument = (
    { otp, delivery, purge_at }: DeliveryJob,
    provider: string,
    round: number,
  ): AttemptDoc => {
    const { otp_id, app_id } = otp
    const { delivery_id } = delivery
    return {
      _id: attemptId(delivery_id, provider, round),
      otp_id,
      app_id,
      delivery_id,
      provider,
      round,
      purge_at,
      rev: 1,
      at: clock.now(),
      result: null,
      reference: null,
    }
  }

  return {
    async start(job, provider, round) {
      const doc = newAttemptDocument(job, provider, round)
      const [inserted] = await attempts.insert([doc])
      const { _id: id, at } = doc
      const existing = inserted === 'duplicate' ? (await attempts.get([id])).get(id) : undefined
      return existing
        ? { id, isNew: false, provider, round, at: existing.at, result: existing.result }
        : { id, isNew: true, provider, round, at, result: null }
    },

    async finish({ id }, { result, reference: vendorReference }) {
      const reference = vendorReference && storedReference(vendorReference)
      await attempts.update([{ ids: [id], update: { $set: { result, reference } } }])
    },

    async record(job, { provider, round, at, result, reference: vendorReference }) {
      const reference = vendorReference && storedReference(vendorReference)
      const doc = { ...newAttemptDocument(job, provider, round), at, result, reference }
      const [inserted] = await attempts.insert([doc])
      if (inserted === 'duplicate')
        await attempts.update([{ ids: [doc._id], update: { $set: { at, result, reference } } }])
    },

    async endRound(job, round) {
      await attempts.insert([newAttemptDocument(job, END_OF_ROUND, round)])
    },

    async history({ delivery: { delivery_id } }) {
      const ofDelivery = { _id: { $gte: `${delivery_id}:`, $lt: `${delivery_id};` } }
      return attempts.find(ofDelivery, { sort: { _id: 1 }, limit: MAX_ATTEMPTS_READ })
    },
  }
}
