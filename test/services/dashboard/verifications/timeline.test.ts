// Why a provider was called first, as the timeline of a verification tells it: by what is stored of its calls, and by their order.
import { expect } from 'chai'
import type { Delivery, RouteReason } from '../../../../machines/otp.ts'
import { createTimeline } from '../../../../services/dashboard/verifications/timeline.ts'
import type { AttemptDoc } from '../../../../services/domain/verifications/documents.ts'
import { issued, T0 } from '../../../support/otp.ts'

const FIRST = 'The provider was the first in the list that could be used.'
const BEST: RouteReason = { rule: 'best', share: 0.98, conversion: 0.806 }

describe('why a provider came first, in the timeline', () => {
  /** In the order in which they were made, each a second later, unless `more` says otherwise. */
  type Call = [provider: string, result: AttemptDoc['result'], more?: Partial<AttemptDoc>]

  function told(delivery: Partial<Delivery>, calls: Call[], mode: 'live' | 'test' = 'live'): string[] {
    const { context } = issued({ mode })
    const otp = { ...context, deliveries: context.deliveries.map(one => ({ ...one, ...delivery })) }
    const { otp_id, app_id, deliveries } = otp
    const attempts = calls.map(([provider, result, more], nth): AttemptDoc => {
      const _id = `${deliveries[0]?.delivery_id}:${provider}:${nth}`
      const delivery_id = deliveries[0]?.delivery_id ?? ''
      const doc = {
        _id,
        otp_id,
        app_id,
        delivery_id,
        channel: 'sms' as const,
        provider,
        round: 1,
        result,
        reference: null,
      }
      return { ...doc, at: T0 + nth * 1_000, purge_at: new Date(T0), rev: 1, ...more }
    })
    // As a store returns them.
    attempts.sort((one, other) => (one._id < other._id ? -1 : 1))
    return createTimeline({ otp, status: 'pending', attempts, events: [] }).flatMap(
      ({ happened, provider, because }) => (because === undefined ? [] : `${happened} ${provider}: ${because}`),
    )
  }
  const sent = (provider: string): Partial<Delivery> => ({ status: 'sent', updated_at: T0 + 60_000, provider })

  it('is the list, where nothing is stored and no other was called before', () => {
    expect(told(sent('a'), [['a', 'accepted']])).to.deep.equal([`delivery.sent a: ${FIRST}`])
    expect(told(sent('a'), []), 'the call could not be recorded').to.deep.equal([`delivery.sent a: ${FIRST}`])
  })

  it('is told of each provider that failed or did not answer, and of the one that took over', () => {
    const calls: Call[] = [
      ['c', 'failed'],
      ['b', 'unknown'],
      ['a', 'accepted'],
    ]
    expect(told(sent('a'), calls)).to.deep.equal([
      `provider.called c: ${FIRST}`,
      'provider.called b: The provider took over from c.',
      'delivery.sent a: The provider took over from b.',
    ])
  })

  it('is told of a provider once, and its later calls keep it', () => {
    const calls: Call[] = [
      ['a', 'failed', { because: BEST }],
      ['b', 'failed'],
      ['', null],
      ['a', 'failed', { because: BEST, round: 2 }],
      ['b', 'accepted', { round: 2 }],
    ]
    expect(told(sent('b'), calls)).to.deep.equal([
      'provider.called a: The provider was the best for this country, and came first for 98 % of the messages. Its conversion was estimated at 81 %.',
      'provider.called b: The provider took over from a.',
      'delivery.sent b: The provider took over from a.',
    ])
  })

  it('is told where no provider took the message, by its calls alone', () => {
    const refused = told({ status: 'failed', reason: 'recipient_unreachable' }, [['a', 'refused']])
    expect(refused).to.deep.equal([`provider.called a: ${FIRST}`])
    expect(told({ status: 'failed', reason: 'provider_failed' }, []), 'none was called').to.deep.equal([])
  })

  it('is told of calls within one millisecond in the order of the process that made them', () => {
    const maker = (nth: number) => ({ at: T0, maker: { process: 'p', try: nth } })
    const calls: Call[] = [
      ['b', 'failed', maker(1)],
      ['a', 'accepted', maker(2)],
    ]
    expect(told(sent('a'), calls)).to.include('delivery.sent a: The provider took over from b.')
  })

  it('is not told of test messages', () => {
    expect(told(sent('sandbox'), [['sandbox', 'accepted']], 'test')).to.deep.equal([])
  })

  const words: [RouteReason, string][] = [
    [
      { rule: 'best', share: 0.98, conversion: 0.796, less: 0.01 },
      'The provider was the best for this country, and came first for 98 % of the messages. Its conversion was estimated at 80 %, less 1 % for its cost.',
    ],
    [
      { rule: 'explored', share: 0.02, conversion: 0.9, less: 1.25 },
      'The provider came first to learn about it, as for 2 % of the messages. Its conversion was estimated at 90 %, less 125 % for its cost.',
    ],
    [
      { rule: 'probe', share: 0.5, conversion: 0.075 },
      'The provider was silent, and came first to see whether it recovers, as for 50 % of the messages. Its conversion was estimated at 7.5 %.',
    ],
    [
      { rule: 'spared', share: 0.98, conversion: 0.604 },
      'The provider came first for 98 % of the messages, because the ones listed before it were silent. Its conversion was estimated at 60 %.',
    ],
    [
      { rule: 'taken_over', from: 'main' },
      'The provider took over from main, which came first and could not be called: its circuit breaker was open, or its vendor had asked for a pause.',
    ],
  ]
  for (const [because, expected] of words)
    it(`has words and figures: ${Object.values(because).join(', ')}`, () =>
      expect(told(sent('a'), [['a', 'accepted', { because }]])).to.deep.equal([`delivery.sent a: ${expected}`]))
})
