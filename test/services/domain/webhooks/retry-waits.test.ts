import { expect } from 'chai'
import fc from 'fast-check'
import { createTopology } from '../../../../infra/broker/topology.ts'
import { readConfig } from '../../../../infra/config/config.ts'
import { brokerDelays, createRetrySchedule } from '../../../../services/domain/webhooks/retry-waits.ts'

const DEFAULT = readConfig({}, []).backoff.webhook
const backoffs = fc.array(fc.integer({ min: 1, max: 36_000_000 }), { minLength: 1, maxLength: 10 })
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the retry schedule', () => {
  it('has one attempt more than it has waits', () => {
    const { waitAfter } = createRetrySchedule(DEFAULT)
    expect(DEFAULT).to.have.length(7)
    expect(DEFAULT.map((_, n) => waitAfter(n + 1, 0.5))).to.deep.equal(DEFAULT)
    expect(waitAfter(8, 0.5)).to.equal(null)
  })

  it('varies each wait by a fifth at most', () => {
    fc.assert(
      fc.property(backoffs, randoms, (backoff, random) => {
        for (const [n, waitMs] of backoff.entries()) {
          const wait = createRetrySchedule(backoff).waitAfter(n + 1, random) ?? 0
          expect(wait).to.be.within(Math.floor(waitMs * 0.8), Math.ceil(waitMs * 1.2))
        }
      }),
    )
  })

  it('waits in the broker by a few of the broker’s delays, never longer than the wait', () => {
    fc.assert(
      fc.property(backoffs, randoms, (backoff, random) => {
        const delays = createTopology(brokerDelays({ channel: [], webhook: backoff })).work['webhook.deliver']
        const { brokerDelay, waitAfter } = createRetrySchedule(backoff)
        for (const n of backoff.keys()) {
          let left = waitAfter(n + 1, random) ?? 0
          let delaysUsed = 0
          for (let next = brokerDelay(left); next !== null; next = brokerDelay(left)) {
            expect(delays).to.include(next)
            expect(next).to.be.at.most(left)
            left -= next
            delaysUsed += 1
          }
          expect(delaysUsed, 'at least one delay').to.be.within(1, 60)
        }
      }),
    )
  })
})
