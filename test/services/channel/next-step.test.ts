import { expect } from 'chai'
import { nextStep, type Policy, type ProviderStatus, type Situation } from '../../../services/channel/next-step.ts'
import type { PastAttempt } from '../../../services/channel/provider-attempts.ts'
import type { AttemptResult } from '../../../services/domain/verifications/documents.ts'
import { END_OF_ROUND } from '../../../services/domain/verifications/documents.ts'

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
const attempt = (
  name: string,
  result: AttemptResult | null,
  at = NOW,
  round = 1,
  more: Partial<PastAttempt> = {},
): PastAttempt => ({
  provider: name,
  result,
  at,
  round,
  call: 1,
  unknownAt: at,
  makerGone: false,
  ...more,
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
      redelivered: false,
      ...more,
    },
    POLICY,
  )

describe('the next step of a delivery', () => {
  it('is the first provider', () => {
    expect(step([])).to.deep.equal({ kind: 'call', provider: 'a', round: 1, call: 1 })
  })

  it('is the next provider after one that failed, or that is shut', () => {
    expect(step([attempt('a', 'failed')])).to.deep.equal({ kind: 'call', provider: 'b', round: 1, call: 1 })
    const providers = [provider('a', { shut: true }), provider('b')]
    expect(step([], { providers })).to.deep.equal({ kind: 'call', provider: 'b', round: 1, call: 1 })
  })

  it('is the end once a provider has accepted it, or the recipient is at fault', () => {
    const accepted = attempt('b', 'accepted', NOW - SECOND)
    expect(step([attempt('a', 'failed'), accepted])).to.deep.equal({ kind: 'sent', provider: 'b', at: NOW - SECOND })
    const refused = [attempt('a', 'unknown', NOW - 60 * SECOND), attempt('b', 'refused')]
    expect(step(refused)).to.deep.equal({ kind: 'fail', reason: 'recipient_unreachable' })
  })

  it('is another round when no provider accepted it, and the end after the last round', () => {
    const failed = (round: number) => [attempt('a', 'failed', NOW, round), attempt('b', 'failed', NOW, round)]
    expect(step(failed(1))).to.deep.equal({ kind: 'end_round', round: 1, waitMs: SECOND })
    const second = [...failed(1), roundEnd(1, NOW - 9 * SECOND)]
    expect(step(second)).to.deep.equal({ kind: 'call', provider: 'a', round: 2, call: 1 })
    expect(step([...second, ...failed(2)])).to.deep.equal({ kind: 'end_round', round: 2, waitMs: 5 * SECOND })
    const third = [...second, ...failed(2), roundEnd(2, NOW - 5 * SECOND), ...failed(3)]
    expect(step(third)).to.deep.equal({ kind: 'fail', reason: 'provider_failed' })
  })

  it('is a wait until the next round begins', () => {
    expect(step([roundEnd(1, NOW - 300)])).to.deep.equal({ kind: 'wait', ms: 700 })
  })

  it('ends a round in which every provider was shut', () => {
    const providers = [provider('a', { shut: true }), provider('b', { shut: true })]
    expect(step([], { providers })).to.deep.equal({ kind: 'end_round', round: 1, waitMs: SECOND })
    const ended = [roundEnd(1, NOW - 60 * SECOND), roundEnd(2, NOW - 30 * SECOND)]
    expect(step(ended, { providers })).to.deep.equal({ kind: 'fail', reason: 'provider_failed' })
  })

  describe('after an attempt that may have reached the recipient', () => {
    const withoutReceipts = [provider('a', { sendsReceipts: false }), provider('b')]
    const only = (more: Partial<ProviderStatus> = {}) => ({ providers: [provider('a', more)] })
    const ago = (ms: number) => NOW - ms

    it('is a wait for a receipt, then the next provider', () => {
      expect(step([attempt('a', 'unknown', ago(SECOND))])).to.deep.equal({ kind: 'wait', ms: 14 * SECOND })
      const over = [attempt('a', 'unknown', ago(15 * SECOND))]
      expect(step(over)).to.deep.equal({ kind: 'call', provider: 'b', round: 1, call: 1 })
    })

    it('is a wait for a receipt of a provider that was paused since, then the next provider', () => {
      const providers = [provider('a', { mayBeCalled: false }), provider('b')]
      expect(step([attempt('a', 'unknown', ago(SECOND))], { providers })).to.deep.equal({
        kind: 'wait',
        ms: 14 * SECOND,
      })
      const over = [attempt('a', 'unknown', ago(15 * SECOND))]
      const next = { kind: 'call', provider: 'b', round: 1, call: 1 }
      expect(step(over, { providers })).to.deep.equal(next)
      expect(step(over, { providers: [provider('a', { mayBeCalled: false })] })).to.deep.equal({
        kind: 'fail',
        reason: 'no_answer',
      })
    })

    it('is a wait from the end of the call on, not from its beginning', () => {
      const timedOut = attempt('a', 'unknown', ago(9 * SECOND), 1, { unknownAt: ago(SECOND) })
      expect(step([timedOut])).to.deep.equal({ kind: 'wait', ms: 14 * SECOND })
    })

    it('is a wait of at most half of the code’s life, so that the next provider has the other half', () => {
      const pastAttempts = [attempt('a', 'unknown', ago(SECOND))]
      expect(step(pastAttempts, { expiresAt: NOW + 19 * SECOND })).to.deep.equal({ kind: 'wait', ms: 9 * SECOND })
    })

    it('is no wait where the vendor sends no receipts', () => {
      const pastAttempts = [attempt('a', 'unknown')]
      const next = { kind: 'call', provider: 'b', round: 1, call: 1 }
      expect(step(pastAttempts, { providers: withoutReceipts })).to.deep.equal(next)
      expect(step([attempt('gone', 'unknown')])).to.deep.equal({ ...next, provider: 'a' })
    })

    it('is a wait for a call in progress in another process, even where the vendor sends no receipts', () => {
      const situation = { providers: withoutReceipts }
      expect(step([attempt('a', null, ago(SECOND))], situation)).to.deep.equal({ kind: 'wait', ms: 9 * SECOND })
      expect(step([attempt('a', null, ago(10 * SECOND))], situation)).to.include({ kind: 'call', provider: 'b' })
    })

    it('is a short wait for such a call once the message was redelivered: the other process has most likely died', () => {
      const situation = { providers: withoutReceipts, redelivered: true }
      expect(step([attempt('a', null, ago(SECOND))], situation)).to.deep.equal({ kind: 'wait', ms: SECOND })
      expect(step([attempt('a', null, ago(2 * SECOND))], situation)).to.include({ kind: 'call', provider: 'b' })
      const receipt = [attempt('a', null, ago(2 * SECOND))]
      expect(step(receipt, { redelivered: true }), 'a receipt').to.deep.equal({ kind: 'wait', ms: 13 * SECOND })
    })

    it('is no wait for a call of a process that is gone, but still one for a receipt', () => {
      const gone = attempt('a', null, ago(SECOND), 1, { makerGone: true })
      expect(step([gone], { providers: withoutReceipts })).to.include({ kind: 'call', provider: 'b' })
      expect(step([gone])).to.deep.equal({ kind: 'wait', ms: 14 * SECOND })
    })

    describe('when no other provider is left', () => {
      const unknown = (name: string, at: number, call = 1, round = 1) => attempt(name, 'unknown', at, round, { call })

      it('is the same provider once more, and then the end', () => {
        const once = [unknown('a', ago(60 * SECOND))]
        expect(step(once, only())).to.deep.equal({ kind: 'call', provider: 'a', round: 1, call: 2 })
        expect(step([...once, unknown('a', ago(SECOND), 2)], only())).to.deep.equal({ kind: 'wait', ms: 14 * SECOND })
        expect(step([...once, unknown('a', ago(15 * SECOND), 2)], only())).to.deep.equal({
          kind: 'fail',
          reason: 'no_answer',
        })
      })

      it('is the provider that was called last, of several, and then the end', () => {
        const both = [unknown('a', ago(90 * SECOND)), unknown('b', ago(60 * SECOND))]
        expect(step(both)).to.deep.equal({ kind: 'call', provider: 'b', round: 1, call: 2 })
        expect(step([...both, unknown('b', ago(30 * SECOND), 2)])).to.include({ kind: 'fail' })
      })

      it('is the same provider also when the others have failed, or are shut', () => {
        const pastAttempts = [unknown('a', ago(60 * SECOND)), attempt('b', 'failed', ago(30 * SECOND))]
        expect(step(pastAttempts)).to.deep.equal({ kind: 'call', provider: 'a', round: 1, call: 2 })
        const providers = [provider('a'), provider('b', { shut: true })]
        expect(step([unknown('a', ago(60 * SECOND))], { providers })).to.include({ provider: 'a', call: 2 })
      })

      it('is another round while the same provider is shut, or has failed in this one', () => {
        const once = [unknown('a', ago(60 * SECOND))]
        const ended = { kind: 'end_round', round: 1, waitMs: SECOND }
        expect(step(once, only({ shut: true }))).to.deep.equal(ended)
        const failed = [...once, attempt('a', 'failed', ago(30 * SECOND), 1, { call: 2 })]
        expect(step(failed, only())).to.deep.equal(ended)
        const second = [...failed, roundEnd(1, ago(29 * SECOND))]
        expect(step(second, only())).to.deep.equal({ kind: 'call', provider: 'a', round: 2, call: 1 })
      })

      it('is first a provider whose processes all died, since it may never have been called', () => {
        const died = attempt('a', null, ago(90 * SECOND), 1, { makerGone: true })
        const pastAttempts = [died, unknown('b', ago(60 * SECOND))]
        expect(step(pastAttempts)).to.deep.equal({ kind: 'call', provider: 'a', round: 1, call: 2 })
      })

      it('is a provider whose processes died up to five times, and then the end', () => {
        const died = (call: number) => attempt('a', null, ago(90 * SECOND), 1, { call, makerGone: true })
        for (const calls of [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]])
          expect(step(calls.map(died), only())).to.include({ kind: 'call', provider: 'a', call: calls.length + 1 })
        expect(step([1, 2, 3, 4, 5].map(died), only())).to.include({ kind: 'fail' })
      })

      it('has a number of its own, even where an earlier call is missing', () => {
        expect(step([unknown('a', ago(60 * SECOND), 2)], only())).to.include({ kind: 'call', call: 3 })
      })
    })

    it('is the same provider again if that may be called twice', () => {
      expect(step([attempt('a', null)], only({ repeatable: true }))).to.deep.equal({
        kind: 'call',
        provider: 'a',
        round: 1,
        call: 1,
      })
    })
  })

  describe('when the message is no longer wanted', () => {
    it('is the end, in every round', () => {
      for (const pastAttempts of [[], [attempt('a', 'failed')], [roundEnd(1)]])
        expect(step(pastAttempts, { stale: true })).to.deep.equal({ kind: 'fail', reason: 'superseded' })
    })

    it('is the end that tells that the message may have gone, once a call with an unknown outcome is not waited for', () => {
      for (const result of ['unknown', null] as const)
        expect(step([attempt('a', result, NOW - 60 * SECOND)], { stale: true })).to.deep.equal({
          kind: 'fail',
          reason: 'superseded',
          mayHaveGone: true,
        })
    })

    it('is still a wait for the receipt of an unknown outcome, and `sent` for an accepted attempt', () => {
      expect(step([attempt('a', 'unknown', NOW - SECOND)], { stale: true })).to.include({ kind: 'wait' })
      expect(step([attempt('a', 'accepted')], { stale: true })).to.include({ kind: 'sent' })
    })
  })

  it('is the end without a provider', () => {
    expect(step([], { providers: [] })).to.deep.equal({ kind: 'fail', reason: 'no_provider' })
    expect(step([], { providers: [provider('a', { mayBeCalled: false })] })).to.deep.equal({
      kind: 'fail',
      reason: 'no_provider',
    })
    const removed = [attempt('a', 'failed')]
    expect(step(removed, { providers: [] })).to.deep.equal({ kind: 'fail', reason: 'provider_failed' })
  })
})
