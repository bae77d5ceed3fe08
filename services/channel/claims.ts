// Who has called which provider for which delivery, round by round. The claim is written before the call and the result after it, so
// whoever finds a claim without a result knows that the message may have gone.
import { createHash } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { AttemptDoc, AttemptResult } from '../domain/verifications/documents.ts'
import type { Errand } from './provider.ts'

/** A call that was made, or the end of a round: then `provider` is empty. */
export type Past = Pick<AttemptDoc, 'provider' | 'round' | 'at' | 'result'>

export interface Claim extends Past {
  id: string
  /** Whether it was made just now: nobody has called this provider for this delivery in this round. */
  fresh: boolean
}

export interface Ending {
  result: AttemptResult
  reference: string | null
}

export interface Claims {
  claim(errand: Errand, provider: string, round: number): Promise<Claim>
  settle(claim: Claim, ending: Ending): Promise<void>
  /** A call that needed no claim, since making it twice does no harm, with what came of it. */
  record(errand: Errand, call: Past & Ending): Promise<void>
  /** Nobody took it in this round. Said twice, it is said once. */
  endRound(errand: Errand, round: number): Promise<void>
  /** All that is known of a delivery's calls, without making one. */
  history(errand: Errand): Promise<Past[]>
}

/** What ends a round is the attempt of no provider. */
export const NOBODY = ''

/** Names of providers hold no colon, so no two claims share an id. */
export const claimId = (delivery_id: string, provider: string, round: number): string =>
  round === 1 && provider !== NOBODY ? `${delivery_id}:${provider}` : `${delivery_id}:${provider}:${round}`

/** A vendor's name for a message, as it is kept and looked for. Meta's is made from the recipient's number, which anyone can read in it. */
export const keptReference = (reference: string): string =>
  reference.startsWith('wamid.') ? `wamid:${createHash('sha256').update(reference).digest('base64url')}` : reference

/** More than any app has providers, in all the rounds there are. */
const MOST = 10_000

export function claiming({
  attempts,
  clock,
}: {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'insert' | 'change' | 'find'>
  clock: Pick<Clock, 'now'>
}): Claims {
  const written = ({ otp, delivery, purge_at }: Errand, provider: string, round: number): AttemptDoc => {
    const { otp_id, app_id } = otp
    const { delivery_id } = delivery
    return {
      _id: claimId(delivery_id, provider, round),
      ...{ otp_id, app_id, delivery_id, provider, round, purge_at, rev: 1 },
      at: clock.now(),
      result: null,
      reference: null,
    }
  }

  return {
    async claim(errand, provider, round) {
      const doc = written(errand, provider, round)
      const [answer] = await attempts.insert([doc])
      const { _id: id, at } = doc
      const before = answer === 'duplicate' ? (await attempts.get([id])).get(id) : undefined
      return before
        ? { id, fresh: false, provider, round, at: before.at, result: before.result }
        : { id, fresh: true, provider, round, at, result: null }
    },

    async settle({ id }, { result, reference: given }) {
      const reference = given && keptReference(given)
      await attempts.change([{ _id: id, update: { $set: { result, reference } } }])
    },

    async record(errand, { provider, round, at, result, reference: given }) {
      const reference = given && keptReference(given)
      const doc = { ...written(errand, provider, round), at, result, reference }
      const [answer] = await attempts.insert([doc])
      if (answer === 'duplicate') await attempts.change([{ _id: doc._id, update: { $set: { at, result, reference } } }])
    },

    async endRound(errand, round) {
      await attempts.insert([written(errand, NOBODY, round)])
    },

    async history({ delivery: { delivery_id } }) {
      const ofDelivery = { _id: { $gte: `${delivery_id}:`, $lt: `${delivery_id};` } }
      return attempts.find(ofDelivery, { sort: { _id: 1 }, limit: MOST })
    },
  }
}
