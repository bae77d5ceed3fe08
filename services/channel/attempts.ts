// Who has called which provider for which delivery, round by round. The claim is written before the call and the result after it, so
// whoever finds a claim without a result knows that the message may have gone.
import { createHash } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { AttemptDoc, AttemptResult } from '../domain/verifications/documents.ts'
import type { DeliveryJob } from './provider.ts'

/** A call that was made, or the end of a round: then `provider` is empty. */
export type PastAttempt = Pick<AttemptDoc, 'provider' | 'round' | 'at' | 'result'>

export interface StartedAttempt extends PastAttempt {
  id: string
  /** Whether it was made just now: nobody has called this provider for this delivery in this round. */
  isNew: boolean
}

export interface AttemptOutcome {
  result: AttemptResult
  reference: string | null
}

export interface Attempts {
  start(job: DeliveryJob, provider: string, round: number): Promise<StartedAttempt>
  finish(claim: StartedAttempt, ending: AttemptOutcome): Promise<void>
  /** A call that needed no claim, since making it twice does no harm, with what came of it. */
  record(job: DeliveryJob, call: PastAttempt & AttemptOutcome): Promise<void>
  /** Nobody took it in this round. Said twice, it is said once. */
  endRound(job: DeliveryJob, round: number): Promise<void>
  /** All that is known of a delivery's calls, without making one. */
  history(job: DeliveryJob): Promise<PastAttempt[]>
}

/** What ends a round is the attempt of no provider. */
export const END_OF_ROUND = ''

/** Names of providers hold no colon, so no two claims share an id. */
export const attemptId = (delivery_id: string, provider: string, round: number): string =>
  round === 1 && provider !== END_OF_ROUND ? `${delivery_id}:${provider}` : `${delivery_id}:${provider}:${round}`

/** A vendor's name for a message, as it is kept and looked for. Meta's is made from the recipient's number, which anyone can read in it. */
export const storedReference = (reference: string): string =>
  reference.startsWith('wamid.') ? `wamid:${createHash('sha256').update(reference).digest('base64url')}` : reference

/** More than any app has providers, in all the rounds there are. */
const MAX_ATTEMPTS_READ = 10_000

export function createAttempts({
  attempts,
  clock,
}: {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'insert' | 'change' | 'find'>
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
      await attempts.change([{ _id: id, update: { $set: { result, reference } } }])
    },

    async record(job, { provider, round, at, result, reference: vendorReference }) {
      const reference = vendorReference && storedReference(vendorReference)
      const doc = { ...newAttemptDocument(job, provider, round), at, result, reference }
      const [inserted] = await attempts.insert([doc])
      if (inserted === 'duplicate')
        await attempts.change([{ _id: doc._id, update: { $set: { at, result, reference } } }])
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
