// Whole deliveries, step by step, under any providers and any deaths of processes.
import { expect } from 'chai'
import fc from 'fast-check'
import { type DeliveryStep, nextStep, type Policy } from '../../../services/channel/next-step.ts'
import type { PastAttempt } from '../../../services/channel/provider-attempts.ts'
import type { AttemptResult } from '../../../services/domain/verifications/documents.ts'
import { END_OF_ROUND } from '../../../services/domain/verifications/documents.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const SECOND = 1_000
const TIMEOUT_MS = 8 * SECOND
const RESTART_MS = 3 * SECOND
const POLICY: Policy = {
  unknownWaitMs: 15 * SECOND,
  underWayMs: 10 * SECOND,
  redeliveredUnderWayMs: 2.5 * SECOND,
  backoff: [1 * SECOND, 5 * SECOND, 15 * SECOND],
}
const ROUNDS = POLICY.backoff.length + 1
/** See MAX_CALLS_WITHOUT_RESULT. */
const CALLS_WITHOUT_RESULT = 5

type Behavior = 'accept' | 'fail' | 'hang' | 'refuse'
/** When the process dies that makes an attempt. */
type Death = 'none' | 'before_call' | 'after_call'

interface World {
  providers: { behavior: Behavior; sendsReceipts: boolean }[]
  /** The death at each attempt, in order. */
  deaths: Death[]
  /** What happens at all further attempts. */
  afterwards: Death
  soleProcess: boolean
  redelivered: boolean
}

const RESULTS: Record<Behavior, AttemptResult> = {
  accept: 'accepted',
  fail: 'failed',
  hang: 'unknown',
  refuse: 'refused',
}

/** Plays a delivery to its end. Answers the last step, the attempts, and how often each provider was really called. */
function play({ providers, deaths, afterwards, soleProcess, redelivered }: World) {
  const statuses = providers.map(({ sendsReceipts }, index) => ({
    name: `p${index}`,
    sendsReceipts,
    repeatable: false,
    shut: false,
    mayBeCalled: true,
  }))
  const attempts: PastAttempt[] = []
  const calls = new Map<string, number>()
  let now = 1_000_000
  let made = 0
  const expiresAt = now + 3600 * SECOND

  function makeAttempt({ provider, round, call }: DeliveryStep & { kind: 'call' }): void {
    const death = deaths[made] ?? afterwards
    made += 1
    const attempt: PastAttempt = { provider, round, call, at: now, result: null, unknownAt: now, makerGone: false }
    attempts.push(attempt)
    if (death !== 'before_call') calls.set(provider, (calls.get(provider) ?? 0) + 1)
    if (death !== 'none') {
      attempt.makerGone = soleProcess
      now += RESTART_MS
      return
    }
    const { behavior } = providers[Number(provider.slice(1))] as World['providers'][number]
    if (behavior === 'hang') now += TIMEOUT_MS
    attempt.result = RESULTS[behavior]
    attempt.unknownAt = now
  }

  for (let steps = 0; steps < 500; steps += 1) {
    const situation = { providers: statuses, pastAttempts: attempts, now, expiresAt, stale: false, redelivered }
    const step = nextStep(situation, POLICY)
    if (step.kind === 'sent' || step.kind === 'fail') return { step, attempts, calls, steps }
    if (step.kind === 'wait') {
      expect(step.ms).to.be.greaterThan(0)
      now += step.ms
    } else if (step.kind === 'end_round') {
      attempts.push({
        provider: END_OF_ROUND,
        round: step.round,
        call: 1,
        at: now,
        result: null,
        unknownAt: now,
        makerGone: false,
      })
      now += step.waitMs
    } else {
      const { provider, round, call } = step
      const before = attempts.filter(one => one.provider === provider && one.round === round && one.call === call)
      expect(before, 'each attempt has an id of its own').to.deep.equal([])
      makeAttempt(step)
    }
  }
  throw new Error('the delivery never ends')
}

const death = fc.constantFrom<Death>('none', 'before_call', 'after_call')
const world = (behaviors: readonly Behavior[], deaths: fc.Arbitrary<Death[]>, afterwards: fc.Arbitrary<Death>) =>
  fc.record<World>({
    providers: fc.array(fc.record({ behavior: fc.constantFrom(...behaviors), sendsReceipts: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    }),
    deaths,
    afterwards,
    soleProcess: fc.boolean(),
    redelivered: fc.boolean(),
  })
const anyWorld = world(['accept', 'fail', 'hang', 'refuse'], fc.array(death, { maxLength: 30 }), death)

describe('a delivery, step by step,', () => {
  it('is sent if one provider works, through as many deaths as there are calls without a result but one', () => {
    const fewDeaths = fc.array(death, { maxLength: CALLS_WITHOUT_RESULT - 1 })
    fc.assert(
      fc.property(world(['accept', 'fail', 'hang'], fewDeaths, fc.constant('none')), fc.nat(), (base, at) => {
        const works = at % base.providers.length
        const providers = base.providers.map((one, index) =>
          index === works ? { ...one, behavior: 'accept' as const } : one,
        )
        expect(play({ ...base, providers }).step.kind).to.equal('sent')
      }),
      { numRuns: propertyRuns(150) },
    )
  })

  it('ends, after a bounded number of calls, however many processes die', () => {
    fc.assert(
      fc.property(anyWorld, one => {
        const { attempts } = play(one)
        const called = attempts.filter(({ provider }) => provider !== END_OF_ROUND)
        for (let index = 0; index < one.providers.length; index += 1) {
          const ofProvider = called.filter(({ provider }) => provider === `p${index}`)
          expect(ofProvider.length).to.be.at.most(CALLS_WITHOUT_RESULT + ROUNDS)
          expect(ofProvider.filter(({ result }) => result === 'unknown').length).to.be.at.most(2)
        }
      }),
      { numRuns: propertyRuns(150) },
    )
  })

  it('fails without a call of a provider only if each of five processes died before its call', () => {
    fc.assert(
      fc.property(anyWorld, one => {
        const { step, attempts, calls } = play(one)
        if (step.kind !== 'fail' || attempts.some(({ result }) => result === 'refused')) return
        for (let index = 0; index < one.providers.length; index += 1) {
          const provider = `p${index}`
          const deaths = attempts.filter(attempt => attempt.provider === provider && attempt.result === null).length
          expect((calls.get(provider) ?? 0) > 0 || deaths === CALLS_WITHOUT_RESULT, provider).to.equal(true)
        }
      }),
      { numRuns: propertyRuns(150) },
    )
  })

  it('makes no call after one that was accepted or refused, and repeats none whose result is known', () => {
    fc.assert(
      fc.property(anyWorld, one => {
        const { attempts } = play(one)
        const end = attempts.findIndex(({ result }) => result === 'accepted' || result === 'refused')
        expect(end === -1 || end === attempts.length - 1).to.equal(true)
      }),
      { numRuns: propertyRuns(150) },
    )
  })

  it('calls every provider once and the last twice when all hang and no process dies', () => {
    fc.assert(
      fc.property(world(['hang'], fc.constant([]), fc.constant('none')), one => {
        const { step, calls } = play(one)
        expect(step).to.deep.equal({ kind: 'fail', reason: 'no_answer' })
        const expected = one.providers.map((_, index) => (index === one.providers.length - 1 ? 2 : 1))
        expect([...calls.values()]).to.deep.equal(expected)
      }),
    )
  })
})
