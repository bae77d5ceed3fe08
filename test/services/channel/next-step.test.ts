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
const attempt = (name: string, result: AttemptResult | null, at = NOW, round = 1): PastAttempt => ({
  provider: name,
  result,
  at,
  round,
})
const roundEnd = (round: number, at = NOW): PastAttempt => attempt(END_OF_ROUND, null, at, round)

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
    expect(step([attempt('a', 'failed')])).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
    const providers = [provider('a', { shut: true }), provider('b')]
    expect(step([], { providers })).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
  })

  it('is the end once a provider has accepted it, or the recipient is at fault', () => {
    const accepted = attempt('b', 'accepted', NOW - SECOND)
    expect(step([attempt('a', 'failed'), accepted])).to.deep.equal({ kind: 'sent', provider: 'b', at: NOW - SECOND })
    expect(step([attempt('a', 'refused')])).to.include({ kind: 'fail' })
  })

  it('is another round when no provider accepted it, and the end after the last round', () => {
    const failed = (round: number) => [attempt('a', 'failed', NOW, round), attempt('b', 'failed', NOW, round)]
    expect(step(failed(1))).to.deep.equal({ kind: 'end_round', round: 1, waitMs: SECOND })
    const second = [...failed(1), roundEnd(1, NOW - 9 * SECOND)]
    expect(step(second)).to.deep.equal({ kind: 'call', provider: 'a', round: 2 })
    expect(step([...second, ...failed(2)])).to.deep.equal({ kind: 'end_round', round: 2, waitMs: 5 * SECOND })
    const third = [...second, ...failed(2), roundEnd(2, NOW - 5 * SECOND), ...failed(3)]
    expect(step(third)).to.deep.equal({ kind: 'fail', reason: 'no provider took it' })
  })

  it('is a wait until the next round begins', () => {
    expect(step([roundEnd(1, NOW - 300)])).to.deep.equal({ kind: 'wait', ms: 700 })
  })

  it('ends a round in which every provider was shut', () => {
    const providers = [provider('a', { shut: true }), provider('b', { shut: true })]
    expect(step([], { providers })).to.deep.equal({ kind: 'end_round', round: 1, waitMs: SECOND })
    const ended = [roundEnd(1, NOW - 60 * SECOND), roundEnd(2, NOW - 30 * SECOND)]
    expect(step(ended, { providers })).to.deep.equal({ kind: 'fail', reason: 'no provider took it' })
  })

  describe('after an attempt that may have reached the recipient', () => {
    it('is a wait for a receipt, then the next provider, and never the same provider again', () => {
      const unknown = (ago: number) => attempt('a', 'unknown', NOW - ago)
      expect(step([unknown(SECOND)])).to.deep.equal({ kind: 'wait', ms: 59 * SECOND })
      expect(step([unknown(60 * SECOND)])).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
      const next = [unknown(90 * SECOND), attempt('b', 'failed', NOW - 9 * SECOND), roundEnd(1, NOW - 9 * SECOND)]
      expect(step(next)).to.deep.equal({ kind: 'call', provider: 'b', round: 2 })
    })

    it('is a wait of at most half of the code’s life, so that the next provider has the other half', () => {
      const pastAttempts = [attempt('a', 'unknown', NOW - SECOND)]
      expect(step(pastAttempts, { expiresAt: NOW + 39 * SECOND })).to.deep.equal({ kind: 'wait', ms: 19 * SECOND })
    })

    it('is no wait where the vendor sends no receipts', () => {
      const providers = [provider('a', { sendsReceipts: false }), provider('b')]
      expect(step([attempt('a', 'unknown')], { providers })).to.deep.equal({ kind: 'call', provider: 'b', round: 1 })
      expect(step([attempt('gone', 'unknown')])).to.deep.equal({ kind: 'call', provider: 'a', round: 1 })
    })

    it('is a wait for a call in progress in another process, even where the vendor sends no receipts', () => {
      const providers = [provider('a', { sendsReceipts: false }), provider('b')]
      expect(step([attempt('a', null, NOW - SECOND)], { providers })).to.deep.equal({ kind: 'wait', ms: 9 * SECOND })
      expect(step([attempt('a', null, NOW - 10 * SECOND)], { providers })).to.include({ kind: 'call', provider: 'b' })
    })

    it('is the end when no other provider is left', () => {
      const pastAttempts = [attempt('a', 'unknown', NOW - 99 * SECOND), attempt('b', 'unknown', NOW - 60 * SECOND)]
      expect(step(pastAttempts)).to.deep.equal({ kind: 'fail', reason: 'no provider is left' })
    })

    it('is the same provider again if that may be called twice', () => {
      const providers = [provider('a', { repeatable: true })]
      expect(step([attempt('a', null)], { providers })).to.deep.equal({ kind: 'call', provider: 'a', round: 1 })
    })
  })

  describe('when the message is no longer wanted', () => {
    it('is the end, in every round', () => {
      for (const pastAttempts of [[], [attempt('a', 'failed')], [roundEnd(1)]])
        expect(step(pastAttempts, { stale: true })).to.include({ kind: 'fail' })
    })

    it('is still a wait for the receipt of an unknown outcome, and `sent` for an accepted attempt', () => {
      expect(step([attempt('a', 'unknown', NOW - SECOND)], { stale: true })).to.include({ kind: 'wait' })
      expect(step([attempt('a', 'accepted')], { stale: true })).to.include({ kind: 'sent' })
    })
  })

  it('is the end without a provider', () => {
    expect(step([], { providers: [] })).to.deep.equal({ kind: 'fail', reason: 'no provider is left' })
  })
})
