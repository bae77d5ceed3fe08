// Who has called which provider for which delivery. The claim is written before the call and the result after it, so whoever finds
// a claim without a result knows that the message may have gone.
import type { Clock } from '../../infra/clock.ts'
import type { AttemptDoc, AttemptResult } from '../../infra/otps/documents.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Errand } from './provider.ts'

export interface Claim {
  id: string
  /** Whether it was made just now: nobody has called this provider for this delivery. */
  fresh: boolean
  at: number
  result: AttemptResult | null
}

export interface Claims {
  claim(errand: Errand, provider: string): Promise<Claim>
  settle(claim: Claim, ending: { result: AttemptResult; reference: string | null }): Promise<void>
  /** What is known of a call, without making one. */
  find(errand: Errand, provider: string): Promise<Claim | null>
}

const claimId = ({ delivery }: Errand, provider: string): string => `${delivery.delivery_id}:${provider}`

export function claiming({
  attempts,
  clock,
}: {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'insert' | 'change'>
  clock: Pick<Clock, 'now'>
}): Claims {
  async function find(errand: Errand, provider: string): Promise<Claim | null> {
    const id = claimId(errand, provider)
    const found = (await attempts.get([id])).get(id)
    return found ? { id, fresh: false, at: found.at, result: found.result } : null
  }

  return {
    find,

    async claim(errand, provider) {
      const id = claimId(errand, provider)
      const { otp, purge_at } = errand
      const at = clock.now()
      const [answer] = await attempts.insert([
        { _id: id, otp_id: otp.otp_id, provider, at, result: null, reference: null, purge_at, rev: 1 },
      ])
      const before = answer === 'duplicate' ? await find(errand, provider) : null
      return before ?? { id, fresh: true, at, result: null }
    },

    async settle({ id }, { result, reference }) {
      await attempts.change([{ _id: id, update: { $set: { result, reference } } }])
    },
  }
}
