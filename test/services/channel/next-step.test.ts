import { expect } from 'chai'
import fc from 'fast-check'
import {
  type DeliveryStep,
  delayAround,
  delayUpTo,
  nextStep,
  type Policy,
  type ProviderStatus,
  type Situation,
} from '../../../services/channel/next-step.ts'
import type { PastAttempt } from '../../../services/channel/provider-attempts.ts'
import { type AttemptResult, END_OF_ROUND } from '../../../services/domain/verifications/documents.ts'

const NOW = 1_000_000
const SECOND = 1_000
const POLICY: Policy = {
  unknownWaitMs: 15 * SECOND,
  underWayMs: 10 * SECOND,
  redeliveredUnderWayMs: 2 * SECOND,
  backoff: [1 * SECOND, 5 * SECOND],
}

const provider = (name: string, more: Partial<ProviderStatus> = {}): ProviderStatus => ({
  name,
  sendsReceipts: true,
  repeatable: false,
  shut: false,
  mayBeCalled: true,
  ...more,
})
const [a, b] = [provider('a'), provider('b')]
const [silentA, pausedA, shutA] = [{ sendsReceipts: false }, { mayBeCalled: false }, { shut: true }].map(more =>
  provider('a', more),
) as [ProviderStatus, ProviderStatus, ProviderStatus]
const shutB = provider('b', { shut: true })

/** `<provider> <result> <seconds ago> <round>.<call>`. Without a result: `?`, or `died` where its process is gone. `round ended`: its end. */
function past(words: string): PastAttempt {
  const [name = '', result = '', seconds = '0', numbers = '1.1'] = words.split(' ')
  const at = NOW - Number(seconds) * SECOND
  const [round, call] = numbers.split('.').map(Number) as [number, number]
  return {
    provider: name === 'round' ? END_OF_ROUND : name,
    result: ['?', 'died', 'ended'].includes(result) ? null : (result as AttemptResult),
    at,
    round,
    call,
    unknownAt: at,
    makerGone: result === 'died',
  }
}

function shown(step: DeliveryStep): string {
  if (step.kind === 'call') return `call ${step.provider} ${step.round}.${step.call}`
  if (step.kind === 'wait') return `wait ${step.ms / SECOND}`
  if (step.kind === 'end_round') return `end round ${step.round}, wait ${step.waitMs / SECOND}`
  if (step.kind === 'sent') return `sent by ${step.provider} ${(NOW - step.at) / SECOND}`
  return `fail ${step.reason}${step.mayHaveGone ? ', it may have gone' : ''}`
}

const FAILED = (round: number) => ['a', 'b'].map(name => `${name} failed 0 ${round}.1`)
const SECOND_ROUND = [...FAILED(1), 'round ended 9 1.1']
const THIRD_ROUND = [...SECOND_ROUND, ...FAILED(2), 'round ended 5 2.1']
const only = (more: Partial<ProviderStatus> = {}) => ({ providers: [provider('a', more)] })
const DIED = ['a died 90 1.1', 'a died 90 1.2', 'a died 90 1.3', 'a died 90 1.4', 'a died 90 1.5']

/** With the providers a and b, of which both send receipts, unless the situation says otherwise. */
const CASES: Record<string, [attempts: string[], step: string, situation?: Partial<Situation>][]> = {
  'is the first provider, or the next after one that failed, or that is shut': [
    [[], 'call a 1.1'],
    [['a failed'], 'call b 1.1'],
    [[], 'call b 1.1', { providers: [shutA, b] }],
  ],
  'is the end once a provider has accepted it, or the recipient is at fault': [
    [['a failed', 'b accepted 1'], 'sent by b 1'],
    [['a unknown 60', 'b refused'], 'fail recipient_unreachable'],
  ],
  'is another round when no provider accepted it, and the end after the last round': [
    [FAILED(1), 'end round 1, wait 1'],
    [SECOND_ROUND, 'call a 2.1'],
    [[...SECOND_ROUND, ...FAILED(2)], 'end round 2, wait 5'],
    [['round ended 0.3 1.1'], 'wait 0.7'],
    [[...THIRD_ROUND, ...FAILED(3)], 'fail provider_failed'],
    [[], 'end round 1, wait 1', { providers: [shutA, shutB] }],
    [['round ended 60 1.1', 'round ended 30 2.1'], 'fail provider_failed', { providers: [shutA, shutB] }],
  ],
  'is a wait for the receipt of an attempt that may have gone, of half of the code’s life at most, and then the next provider':
    [
      [['a unknown 1'], 'wait 14'],
      [['a unknown 15'], 'call b 1.1'],
      [['a unknown 1'], 'wait 14', { providers: [pausedA, b] }],
      [['a unknown 15'], 'call b 1.1', { providers: [pausedA, b] }],
      [['a unknown 15'], 'fail no_answer', { providers: [pausedA] }],
      [['a unknown 1'], 'wait 9', { expiresAt: NOW + 19 * SECOND }],
      [['a unknown 0'], 'call b 1.1', { providers: [silentA, b] }],
      [['removed unknown 0'], 'call a 1.1'],
    ],
  'is a wait for a call in progress in another process, a short one once the message was redelivered': [
    [['a ? 1'], 'wait 9', { providers: [silentA, b] }],
    [['a ? 10'], 'call b 1.1', { providers: [silentA, b] }],
    [['a ? 1'], 'wait 1', { providers: [silentA, b], redelivered: true }],
    [['a ? 2'], 'call b 1.1', { providers: [silentA, b], redelivered: true }],
    [['a ? 2'], 'wait 13', { redelivered: true }],
  ],
  'is no wait for a call of a process that is gone, but still one for a receipt': [
    [['a died 1'], 'call b 1.1', { providers: [silentA, b] }],
    [['a died 1'], 'wait 14'],
  ],
  'is the same provider once more where no other is left, the one that was called last, and then the end': [
    [['a unknown 60'], 'call a 1.2', only()],
    [['a unknown 60', 'a unknown 1 1.2'], 'wait 14', only()],
    [['a unknown 60', 'a unknown 15 1.2'], 'fail no_answer', only()],
    [['a unknown 90', 'b unknown 60'], 'call b 1.2'],
    [['a unknown 90', 'b unknown 60', 'b unknown 30 1.2'], 'fail no_answer'],
    [['a unknown 60', 'b failed 30'], 'call a 1.2'],
    [['a unknown 60'], 'call a 1.2', { providers: [a, shutB] }],
    // An earlier call is missing.
    [['a unknown 60 1.2'], 'call a 1.3', only()],
  ],
  'is another round while that provider is shut, or has failed in this one': [
    [['a unknown 60'], 'end round 1, wait 1', only({ shut: true })],
    [['a unknown 60', 'a failed 30 1.2'], 'end round 1, wait 1', only()],
    [['a unknown 60', 'a failed 30 1.2', 'round ended 29 1.1'], 'call a 2.1', only()],
  ],
  'is first a provider whose processes all died, since it may never have been called, up to five times': [
    [['a died 90', 'b unknown 60'], 'call a 1.2'],
    [DIED.slice(0, 1), 'call a 1.2', only()],
    [DIED.slice(0, 4), 'call a 1.5', only()],
    [DIED, 'fail no_answer', only()],
  ],
  'is the same provider again if that may be called twice': [[['a ?'], 'call a 1.1', only({ repeatable: true })]],
  'is the end when the message is no longer wanted, and says if it may have gone': [
    [[], 'fail superseded', { stale: true }],
    [['a failed'], 'fail superseded', { stale: true }],
    [['round ended'], 'fail superseded', { stale: true }],
    [['a unknown 60'], 'fail superseded, it may have gone', { stale: true }],
    [['a ? 60'], 'fail superseded, it may have gone', { stale: true }],
    [['a unknown 1'], 'wait 14', { stale: true }],
    [['a accepted'], 'sent by a 0', { stale: true }],
  ],
  'is the end without a provider': [
    [[], 'fail no_provider', { providers: [] }],
    [[], 'fail no_provider', { providers: [pausedA] }],
    [['a failed'], 'fail provider_failed', { providers: [] }],
  ],
}

describe('the next step of a delivery', () => {
  const step = (pastAttempts: PastAttempt[], more: Partial<Situation> = {}): string => {
    const situation = { providers: [a, b], now: NOW, expiresAt: NOW + 600 * SECOND, stale: false, redelivered: false }
    return shown(nextStep({ ...situation, pastAttempts, ...more }, POLICY))
  }

  for (const [what, cases] of Object.entries(CASES))
    it(what, () => {
      for (const [attempts, expected, situation] of cases)
        expect(step(attempts.map(past), situation), attempts.join()).to.equal(expected)
    })

  it('is a wait for the receipt from the end of a call on, not from its beginning', () => {
    expect(step([{ ...past('a unknown 9'), unknownAt: NOW - SECOND }])).to.equal('wait 14')
  })
})

const DELAYS = [1_000, 5_000, 15_000]

describe('the delay of a message that is returned to its queue', () => {
  it('is at most the time to wait, unless every delay is longer', () => {
    expect([400, 1_000, 4_999, 5_000, 60_000].map(ms => delayUpTo(DELAYS, ms))).to.deep.equal([
      400, 1_000, 1_000, 5_000, 15_000,
    ])
  })

  it('is next to the time to wait, which is the mean of many', () => {
    const draws = Array.from({ length: 1_000 }, (_, nth) => nth / 1_000)
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 15_000 }), ms => {
        const drawn = draws.map(draw => delayAround(DELAYS, ms, draw))
        const mean = drawn.reduce((sum, delay) => sum + delay, 0) / draws.length
        expect(mean).to.be.closeTo(ms, 10)
        const [shorter, longer] = ms < 5_000 ? [1_000, 5_000] : [5_000, 15_000]
        expect([shorter, longer]).to.include.members(drawn)
      }),
    )
  })

  it('is the only one that is near where there is none on the other side', () => {
    for (const draw of [0, 0.5, 0.999]) {
      expect(delayAround(DELAYS, 60_000, draw)).to.equal(15_000)
      expect(delayAround(DELAYS, 400, draw), 'the broker takes the shortest').to.equal(400)
      expect(delayAround([], 400, draw)).to.equal(400)
    }
  })
})
