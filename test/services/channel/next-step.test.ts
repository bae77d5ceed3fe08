import { expect } from 'chai'
import { END_OF_ROUND, type PastAttempt } from '../../../services/channel/attempts.ts'
import { nextStep, type ProviderStatus, type Situation } from '../../../services/channel/next-step.ts'
import type { AttemptResult } from '../../../services/domain/verifications/documents.ts'

const NOW = 1_000_000
const SECOND = 1_000
const POLICY = { unknownWaitMs: 60 * SECOND, underWayMs: 10 * SECOND, backoff: [1 * SECOND, 5 * SECOND] }

const provider = (name: string, more: Partial<ProviderStatus> = {}): ProviderStatus => ({
  name,
  sendsReceipts: true,
  repeatable: false,
  shut: false,
  ...more,
})
const call = (name: string, result: AttemptResult | null, at = NOW, round = 1): PastAttempt => ({
  provider: name,
  result,
  at,
  round,
})
const roundEnd = (round: number, at = NOW): PastAttempt => call(END_OF_ROUND, null, at, round)

const step = (pastAttempts: PastAttempt[], more: Partial<Situation> = {}) =>
  nextStep(
    {
      providers: [provider('a'), provider('b')],
      pastAttempts,
      now: NOW,
      expiresAt: NOW + 600 * SECOND,
      stale: false,
      ...more,
    },
    POLICY,
  )

describe('the next step of a delivery', () => {
  it('is the first provider', () => {
    expect(step([])).to.deep.equal({ kind: 'call', provider: 'a', round: 1 })
  })

  it('is the next provider after one that failed, or that is shut', () => {
    expect(step([call('a', 'failed')])).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
    const providers = [provider('a', { shut: true }), provider('b')]
    expect(step([], { providers })).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
  })

  it('is over once one took it, or the recipient is at fault', () => {
    const taken = call('b', 'accepted', NOW - SECOND)
    expect(step([call('a', 'failed'), taken])).to.deep.equal({ kind: 'sent', provider: 'b', at: NOW - SECOND })
    expect(step([call('a', 'refused')])).to.include({ kind: 'fail' })
  })

  it('is another round when nobody took it, and the end when there were enough', () => {
    const failed = (round: number) => [call('a', 'failed', NOW, round), call('b', 'failed', NOW, round)]
    expect(step(failed(1))).to.deep.equal({ kind: 'end_round', round: 1, waitMs: SECOND })
    const second = [...failed(1), roundEnd(1, NOW - 9 * SECOND)]
    expect(step(second)).to.deep.equal({ kind: 'call', provider: 'a', round: 2 })
    expect(step([...second, ...failed(2)])).to.deep.equal({ kind: 'end_round', round: 2, waitMs: 5 * SECOND })
    const third = [...second, ...failed(2), roundEnd(2, NOW - 5 * SECOND), ...failed(3)]
    expect(step(third)).to.deep.equal({ kind: 'fail', reason: 'no provider took it' })
  })

  it('waits until a round begins', () => {
    expect(step([roundEnd(1, NOW - 300)])).to.deep.equal({ kind: 'wait', ms: 700 })
  })

  it('counts a round in which every provider was shut', () => {
    const providers = [provider('a', { shut: true }), provider('b', { shut: true })]
    expect(step([], { providers })).to.deep.equal({ kind: 'end_round', round: 1, waitMs: SECOND })
    const ended = [roundEnd(1, NOW - 60 * SECOND), roundEnd(2, NOW - 30 * SECOND)]
    expect(step(ended, { providers })).to.deep.equal({ kind: 'fail', reason: 'no provider took it' })
  })

  describe('after a call that may have gone', () => {
    it('waits for a receipt, then goes on with the next provider, and never asks the same one again', () => {
      const unknown = (ago: number) => call('a', 'unknown', NOW - ago)
      expect(step([unknown(SECOND)])).to.deep.equal({ kind: 'wait', ms: 59 * SECOND })
      expect(step([unknown(60 * SECOND)])).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
      const next = [unknown(90 * SECOND), call('b', 'failed', NOW - 9 * SECOND), roundEnd(1, NOW - 9 * SECOND)]
      expect(step(next)).to.deep.equal({ kind: 'call', provider: 'b', round: 2 })
    })

    it('leaves the next provider half of the code’s life', () => {
      const pastAttempts = [call('a', 'unknown', NOW - SECOND)]
      expect(step(pastAttempts, { expiresAt: NOW + 39 * SECOND })).to.deep.equal({ kind: 'wait', ms: 19 * SECOND })
    })

    it('does not wait for a receipt that never comes', () => {
      const providers = [provider('a', { sendsReceipts: false }), provider('b')]
      expect(step([call('a', 'unknown')], { providers })).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
      expect(step([call('gone', 'unknown')])).to.deep.equal({ kind: 'call', provider: 'a', round: 1 })
    })

    it('waits for a call under way elsewhere, even where no receipt comes', () => {
      const providers = [provider('a', { sendsReceipts: false }), provider('b')]
      expect(step([call('a', null, NOW - SECOND)], { providers })).to.deep.equal({ kind: 'wait', ms: 9 * SECOND })
      expect(step([call('a', null, NOW - 10 * SECOND)], { providers })).to.include({ kind: 'call', provider: 'b' })
    })

    it('ends when nobody else is left to ask', () => {
      const pastAttempts = [call('a', 'unknown', NOW - 99 * SECOND), call('b', 'unknown', NOW - 60 * SECOND)]
      expect(step(pastAttempts)).to.deep.equal({ kind: 'fail', reason: 'no provider is left' })
    })

    it('asks again where twice is once', () => {
      const providers = [provider('a', { repeatable: true })]
      expect(step([call('a', null)], { providers })).to.deep.equal({ kind: 'call', provider: 'a', round: 1 })
    })
  })

  describe('when nobody waits for it any more', () => {
    it('is no call, in no round', () => {
      for (const pastAttempts of [[], [call('a', 'failed')], [roundEnd(1)]])
        expect(step(pastAttempts, { stale: true })).to.include({ kind: 'fail' })
    })

    it('still waits for the receipt of what may have gone, and believes what was taken', () => {
      expect(step([call('a', 'unknown', NOW - SECOND)], { stale: true })).to.include({ kind: 'wait' })
      expect(step([call('a', 'accepted')], { stale: true })).to.include({ kind: 'sent' })
    })
  })

  it('is the end without a provider', () => {
    expect(step([], { providers: [] })).to.deep.equal({ kind: 'fail', reason: 'no provider is left' })
  })
})
