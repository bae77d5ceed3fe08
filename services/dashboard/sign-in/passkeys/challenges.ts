// Challenges for passkeys. In: what a passkey is to be used for, and the browser that asks. Out: a text that the
// authenticator signs; later, whether the signed text is one of ours, for the same use, in the same browser, not older
// than five minutes and not used before.
//
// A challenge carries its own MAC, so asking for one stores nothing: a stranger who asks for many fills nothing up. Only one that a good
// signature came back for is stored, as spent, until it would have expired. Of two uses at the same time the store takes one.
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../../../infra/clock.ts'
import type { Keyring } from '../../../../infra/crypto/keyring.ts'
import { MINUTE_MS } from '../../../../infra/time.ts'
import type { UserStore } from '../../../domain/users/documents.ts'

export const CHALLENGE_MS = 5 * MINUTE_MS
const NONCE_BYTES = 16

/** `browser`: the token of its flow cookie when it signs in, and the id of its session afterwards. */
export interface ChallengeUse {
  purpose: 'sign_in' | 'add' | 'step_up'
  browser: string
}

export interface Challenges {
  create(use: ChallengeUse): string
  isGood(challenge: string, use: ChallengeUse): boolean
  /** False if it was spent before. */
  spend(challenge: string): Promise<boolean>
}

export interface ChallengeDeps {
  store: UserStore
  keyring: Pick<Keyring, 'mac' | 'makerOf'>
  clock: Pick<Clock, 'now'>
}

const PURPOSE = 'passkey challenge'

export function createChallenges({ store, keyring, clock }: ChallengeDeps): Challenges {
  const spent = store.docs('spent_assertions')
  const textsOf = (until: string, nonce: string, { purpose, browser }: ChallengeUse) => [until, nonce, purpose, browser]
  return {
    create(use) {
      const until = String(clock.now() + CHALLENGE_MS)
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      return `${until}.${nonce}.${keyring.mac(PURPOSE, textsOf(until, nonce, use))}`
    },
    isGood(challenge, use) {
      const [until = '', nonce = '', ...rest] = challenge.split('.')
      const maker = keyring.makerOf(rest.join('.'), PURPOSE, textsOf(until, nonce, use))
      return (maker === 'current' || maker === 'former') && Number(until) > clock.now()
    },
    async spend(challenge) {
      const _id = createHash('sha256').update(challenge).digest('hex')
      const [outcome] = await spent.insert([{ _id, purge_at: new Date(clock.now() + CHALLENGE_MS) }])
      return outcome === 'inserted'
    },
  }
}
