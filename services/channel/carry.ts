// Carries a delivery on by one step: a call of the next provider, a wait, or the end of it. What to do is decided in rounds.ts; here it
// is done. All that must outlive the process is in the store before and after each call.
import { done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { DeliverBody } from '../domain/verifications/effect-messages.ts'
import type { Admission, Gates } from './admission/gates.ts'
import type { Candidate, MakeAttempt } from './attempt.ts'
import type { Candidates } from './candidates.ts'
import type { Claims, Past } from './claims.ts'
import type { Errand, Rendered } from './provider.ts'
import type { Tell } from './reports.ts'
import { nextStep, type Policy, type Standing } from './rounds.ts'

/** What one handling of the broker's message knows of the delivery's calls. */
export interface Journey {
  past: readonly Past[]
  /** Whether it was looked up. Nothing is known of a message that comes for the first time; should that be wrong, its claim says so. */
  looked: boolean
  first: boolean
  /** Providers found shut. */
  shut: Set<string>
}

export interface Carry {
  /** Gives back at once what nobody could take now; null for what is to be looked at. */
  crowded(whose: NonNullable<DeliverBody['live']>): Promise<Outcome | null>
  /** `attempt` is the broker's. */
  begin(attempt: number): Journey
  /** One step; null when the verification is to be looked at again before the next. */
  onward(errand: Errand, stale: string | null, journey: Journey): Promise<Outcome | null>
  /** The news is out, but the broker did not hear that we were done. */
  receiptsAgain(errand: Errand): Promise<Outcome>
}

export interface CarryParts {
  claims: Claims
  candidates: Candidates
  gates: Pick<Gates, 'enter' | 'crowdedMs'>
  render(errand: Errand): Promise<Rendered>
  attempt: MakeAttempt
  tell: Tell
  clock: Clock
  log: Logger
  policy: Policy
}

/** So many calls, as long as they take now, are waited for before a provider that is busy is asked again; but a user waits. */
const PATIENCE = 2
const LONGEST_PATIENCE_MS = 5_000

export function carrying({ claims, candidates, gates, render, attempt, tell, clock, log, policy }: CarryParts): Carry {
  async function onward(errand: Errand, stale: string | null, journey: Journey): Promise<Outcome | null> {
    const all = await candidates.of(errand)
    if (stale === null && all.length === 0) await candidates.expectSome(errand)
    if (!journey.first || stale !== null) await look(errand, journey)
    const { past } = journey
    const providers = all.map(candidate => standing(candidate, journey))
    const { expires_at: expiresAt } = errand.otp
    const step = nextStep({ providers, past, now: clock.now(), expiresAt, stale: stale !== null }, policy)
    switch (step.kind) {
      case 'sent':
        await tell(errand, 'sent')
        return receipts(errand, named(all, step.provider), step.at)
      case 'wait':
        return pause(step.ms)
      case 'end_round':
        await claims.endRound(errand, step.round)
        return pause(step.waitMs)
      case 'fail':
        return fail(errand, stale ?? step.reason)
      case 'call':
        return callOn(errand, named(all, step.provider), step.round, journey)
    }
  }

  async function callOn(errand: Errand, candidate: Candidate | undefined, round: number, journey: Journey) {
    if (!candidate) throw new Error('asked for a provider that is not there')
    const pass = await admission(errand, candidate)
    if (typeof pass === 'object' && 'fullForMs' in pass) return givenBack(pass.fullForMs)
    if (pass === 'shut') {
      // Before it is passed over: another process may have called it.
      await look(errand, journey)
      journey.shut.add(candidate.name)
      return onward(errand, null, journey)
    }
    const message = await render(errand).catch(error => {
      pass?.leave()
      throw error
    })
    const made = await attempt(candidate, message, round, pass)
    if (made.fresh) journey.past = [...journey.past, made]
    else Object.assign(journey, { past: await claims.history(errand), looked: true })
    return made.result === 'accepted' ? onward(errand, null, journey) : null
  }

  async function look(errand: Errand, journey: Journey): Promise<void> {
    if (!journey.looked) Object.assign(journey, { past: await claims.history(errand), looked: true })
  }

  /** The sandbox takes whatever comes, also as an app's provider of its own. */
  const admission = async ({ otp }: Errand, { name, type }: Candidate): Promise<Admission | undefined> =>
    type === 'sandbox' ? undefined : gates.enter({ company_id: otp.company_id, app_id: otp.app_id, name, type })

  /** Whoever waits for it is told. */
  async function fail(errand: Errand, reason: string): Promise<Outcome> {
    const { otp_id, app_id } = errand.otp
    const { delivery_id, channel } = errand.delivery
    log.warn({ otp_id, app_id, delivery_id, channel, reason }, 'delivery.dropped')
    await tell(errand, 'failed')
    return done()
  }

  const receipts = async (errand: Errand, candidate: Candidate | undefined, at: number): Promise<Outcome> =>
    candidate?.provider.receipts?.(errand, at) ?? done()

  /** At no cost. Where calls take seconds, nothing is won by coming back every second. */
  const givenBack = (callMs: number): Outcome => pause(Math.min(callMs * PATIENCE, LONGEST_PATIENCE_MS))

  /** The longest of the queue's delays that is not too long: woken early, we ask again; woken late, a user waits. */
  const pause = (ms: number): Outcome => {
    const delays = policy.backoff.filter(delay => delay <= ms)
    return retry(delays.length === 0 ? ms : Math.max(...delays))
  }

  return {
    onward,
    async crowded({ company_id, app_id }) {
      const all = await candidates.ofApp(app_id)
      const ms = gates.crowdedMs(all.map(({ name, type }) => ({ company_id, app_id, name, type })))
      return ms === null ? null : givenBack(ms)
    },
    begin: attempt => ({ past: [], first: attempt === 1, looked: false, shut: new Set() }),
    async receiptsAgain(errand) {
      const all = await candidates.of(errand)
      if (!all.some(({ provider }) => provider.receipts)) return done()
      const taken = (await claims.history(errand)).find(({ result }) => result === 'accepted')
      return taken ? receipts(errand, named(all, taken.provider), taken.at) : done()
    },
  }
}

const named = (candidates: readonly Candidate[], name: string): Candidate | undefined =>
  candidates.find(candidate => candidate.name === name)

const standing = ({ name, provider }: Candidate, { shut }: Journey): Standing => ({
  name,
  hears: provider.hear !== undefined,
  repeatable: provider.repeatable === true,
  shut: shut.has(name),
})
