// Challenges of publishable keys. In: a send or a resend, before anything else is decided about it. Out: a reservation that holds the
// solved challenge as spent, nothing where none is needed, or a refusal with a new challenge.
//
// Nothing is stored of a proof of work that is asked for: its salt carries its terms, and its signature binds them to
// the API key and to the recipient, or on resend to the verification. The token of a widget was checked by the edge,
// with its vendor. What is used is inserted, so of two calls with one solution one is served.
import type { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { Identity, Refusal } from '../../../machines/calls.ts'
import {
  CHALLENGE_LIFE_MS,
  type CheckedToken,
  difficultyFor,
  encodeSalt,
  isHardEnough,
  isHardest,
  isSolved,
  parseSolution,
  SALT_RANDOM_BYTES,
  type Solution,
  TOKEN_LIFE_MS,
} from '../../../machines/challenge.ts'
import type { SpentChallengeDoc } from '../../domain/verifications/documents.ts'
import { recipientKey } from '../../domain/verifications/lookup-indexes.ts'
import type { CachedApp } from '../apps.ts'
import { type ChallengeOutcome, type FraudGuard, NO_CHALLENGE } from '../fraud/guard.ts'
import type { JudgedAddress } from '../limits/reputation.ts'
import { refusal } from '../refusals.ts'
import { NO_RESERVATION, type Reservation } from '../reservation.ts'

export interface ChallengedCall {
  command_id: string
  by: Identity
  app: Pick<CachedApp, 'settings'>
  /** The verification that is resent; null for a send, whose challenge is for its recipient. */
  otp_id: string | null
  /** Unsealed, when it is needed. */
  recipient(): string
  /** The address of the caller; null when it has none that is usable. */
  address: JudgedAddress | null
  solution: string | undefined
  /** The token of the widget that the app may have in place of a proof of work. */
  token: CheckedToken | undefined
}

export type ChallengeResult = Reservation & ChallengeOutcome

export interface Challenges {
  /** After a refusal nothing is spent. Undoing it makes the solution good again. */
  check(call: ChallengedCall): Promise<ChallengeResult>
}

export interface ChallengeDeps {
  keyring: Pick<Keyring, 'signatures'>
  clock: Pick<Clock, 'now'>
  spent: Pick<Docs<SpentChallengeDoc>, 'insert' | 'modify' | 'remove'>
  guard: Pick<FraudGuard, 'challengeNeed'>
  metrics: Pick<Metrics, 'challenges'>
}

/** A spent challenge is kept for longer than it is good, because clocks differ. */
const KEPT_AFTER_EXPIRY_MS = 300_000

const NOT_NEEDED: ChallengeResult = { ...NO_RESERVATION, ...NO_CHALLENGE }

export function createChallenges({ keyring, clock, spent, guard, metrics }: ChallengeDeps): Challenges {
  const signaturesFor = (salt: string, { by, otp_id, recipient }: ChallengedCall): string[] =>
    keyring.signatures([
      'challenge',
      salt,
      by.key_id,
      ...(otp_id === null ? ['send', recipientKey(recipient())] : ['resend', otp_id]),
    ])

  /** Null: it is wrong, late, or of another call. */
  function goodSolution(call: ChallengedCall): Solution | null {
    const solution = call.solution === undefined ? null : parseSolution(call.solution)
    if (solution === null || clock.now() >= solution.expires_at) return null
    if (!isSolved(solution, sha256(`${solution.salt}.${solution.nonce}`))) return null
    return signaturesFor(solution.salt, call).some(signature => isSameSecret(signature, solution.signature))
      ? solution
      : null
  }

  /** Null where the call brings nothing that counts. */
  function countedSolution(call: ChallengedCall, isAsked: boolean, pressure: number): CountedSolution | null {
    const { token, app } = call
    // The app may have gone back to proofs of work since the edge checked it.
    if (token?.outcome === 'passed' && app.settings.challenge.by !== 'pow') {
      const expires_at = clock.now() + TOKEN_LIFE_MS
      // There is no harder one, so it stands for what is asked for now.
      return { id: token.id, expires_at, isHardest: isHardest({ difficulty: difficultyFor(pressure) }) }
    }
    const solution = goodSolution(call)
    // Where none would be asked for now, a good one is spent all the same: the device may have been asked a moment ago.
    if (solution === null || (isAsked && !isHardEnough(solution, pressure))) return null
    const id = sha256(solution.salt).toString('base64url')
    return { id, expires_at: solution.expires_at, isHardest: isHardest(solution) }
  }

  /** Null: it was used before, by another call. */
  async function spend({ id: _id, expires_at }: CountedSolution, command_id: string): Promise<Reservation | null> {
    const purge_at = new Date(expires_at + KEPT_AFTER_EXPIRY_MS)
    const [answer] = await spent.insert([{ _id, command_id, purge_at }])
    if (answer === 'inserted')
      return {
        undo: async () => void (await spent.remove({ _id, command_id, delivered_again: { $exists: false } }, 1)),
      }
    // A call that is delivered twice may be accepted by either delivery. So neither gives its challenge back.
    return (await spent.modify({ _id, command_id }, { $set: { delivered_again: true } })) ? NO_RESERVATION : null
  }

  const needOf = async ({ by, app, recipient, address }: ChallengedCall) =>
    by.mode === 'test'
      ? { asked: true, pressure: 0, evidence: null }
      : guard.challengeNeed({ by, app, recipient: recipient(), address })

  function askFor(call: ChallengedCall, pressure: number): Refusal {
    const { by, site_key } = call.app.settings.challenge
    // Where the vendor is silent, work is asked for: the app is then neither open nor shut.
    if (by !== 'pow' && site_key !== null && call.token?.outcome !== 'unchecked')
      return refusal('ChallengeRequiredError', detailOf(call), { challenge: { type: by, site_key } })
    const terms = { difficulty: difficultyFor(pressure), expires_at: clock.now() + CHALLENGE_LIFE_MS }
    const salt = encodeSalt(terms, randomBytes(SALT_RANDOM_BYTES))
    const [signature = ''] = signaturesFor(salt, call)
    const challenge = { type: 'pow', algorithm: 'SHA-256', salt, signature, ...terms } as const
    return refusal('ChallengeRequiredError', detailOf(call), { challenge })
  }

  return {
    async check(call) {
      const { by, app, command_id } = call
      const when = app.settings.publishable_challenge
      const isExempt = by.kind === 'server' || when === 'off' || (when === 'risk' && by.mode === 'test')
      if (isExempt) return NOT_NEEDED

      const { asked, pressure, evidence } = await needOf(call)
      const isAsked = asked || when === 'always'
      const solution = countedSolution(call, isAsked, pressure)
      const reservation = solution && (await spend(solution, command_id))
      if (solution && reservation) {
        metrics.challenges.inc({ mode: by.mode, outcome: 'solved' })
        return { ...reservation, solvedHardest: solution.isHardest, evidence }
      }
      if (!isAsked) return { ...NOT_NEEDED, evidence }
      metrics.challenges.inc({ mode: by.mode, outcome: outcomeOf(call) })
      return { ...NOT_NEEDED, refusal: askFor(call, pressure) }
    },
  }
}

interface CountedSolution {
  id: string
  expires_at: number
  isHardest: boolean
}

const outcomeOf = ({ solution, token }: ChallengedCall): string => {
  if (token?.outcome === 'unchecked') return 'unchecked'
  return solution === undefined && token === undefined ? 'asked' : 'rejected'
}

function detailOf({ solution, token }: ChallengedCall): string {
  if (token?.outcome === 'unchecked')
    return 'The vendor of the widget did not say whether this token is good. Solve the new challenge.'
  if (token?.outcome === 'other_host') return 'This token was solved on a page of a host that the app does not list.'
  return solution === undefined && token === undefined
    ? 'Solve the challenge and repeat the call with the header challenge-solution.'
    : 'This solution is wrong, late, used, of another call, or too easy by now. Solve the new challenge.'
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
