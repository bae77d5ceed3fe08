// How many invitations a company's users make in a day, over all processes. In: a company, and the address that it
// invites. Out: nothing, or 429. The limit of an address is the company's own: what other companies do neither shows in
// it nor uses it up.
import { createHash } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { rateLimited } from '../../../infra/http/problem.ts'
import { DAY_MS } from '../../../infra/time.ts'
import { emailIndex, type UserStore } from '../../domain/users/documents.ts'
import { createRecentTimes } from '../sign-in/recent-times.ts'

export interface InvitationLimit {
  /** Counts an invitation. `giveBack`: it was not made after all. */
  take(company_id: string, email: string): Promise<{ giveBack(): Promise<void> }>
}

export interface InvitationLimitDeps {
  store: UserStore
  keyring: Pick<Keyring, 'index'>
  clock: Pick<Clock, 'now'>
}

const MAX_PER_COMPANY = 20
const MAX_PER_ADDRESS = 3

export function createInvitationLimit({ store, keyring, clock }: InvitationLimitDeps): InvitationLimit {
  const times = createRecentTimes({ docs: store.docs('invitation_times'), clock, windowMs: DAY_MS })
  async function takeFrom(texts: string[], max: number, detail: string) {
    const taken = await times.take(createHash('sha256').update(texts.join(':')).digest('hex'), max)
    if (taken.kind === 'refused') throw rateLimited({ scope: 'invitations', detail, waitMs: taken.waitMs })
    return taken
  }
  return {
    async take(company_id, email) {
      const ofAddress = await takeFrom(
        [company_id, emailIndex(keyring, email)],
        MAX_PER_ADDRESS,
        `This address was invited ${MAX_PER_ADDRESS} times in a day.`,
      )
      const ofCompany = await takeFrom(
        [company_id],
        MAX_PER_COMPANY,
        `The company has made ${MAX_PER_COMPANY} invitations in a day.`,
      ).catch(async error => {
        await ofAddress.giveBack()
        throw error
      })
      return { giveBack: async () => void (await Promise.all([ofAddress.giveBack(), ofCompany.giveBack()])) }
    },
  }
}
