import { expect } from 'chai'
import fc from 'fast-check'
import { createTopology } from '../../../../infra/broker/topology.ts'
import { readConfig } from '../../../../infra/config/config.ts'
import { brokerDelays, createRetrySchedule } from '../../../../services/domain/webhooks/retry-schedule.ts'

const DEFAULT = readConfig({}, []).backoff.webhook
const backoffs = fc.array(fc.integer({ min: 1, max: 36_000_000 }), { minLength: 1, maxLength: 10 })
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the ladder', () => {
  it('has one attempt more than waits', () => {
    const { attempts, waitAfter } = createRetrySchedule(DEFAULT)
    expect(attempts).to.equal(8)
    expect(DEFAULT.map((_, n) => waitAfter(n + 1, 0.5))).to.deep.equal(DEFAULT)
    expect(waitAfter(8, 0.5)).to.equal(null)
  })

  it('jitters by a fifth at most, either way', () => {
    fc.assert(
      fc.property(backoffs, randoms, (backoff, random) => {
        for (const [n, rung] of backoff.entries()) {
          const wait = createRetrySchedule(backoff).waitAfter(n + 1, random) ?? 0
          expect(wait).to.be.within(Math.floor(rung * 0.8), Math.ceil(rung * 1.2))
        }
      }),
    )
  })

  it('is slept through in the broker by delays the broker has, never too long, and not in many small naps', () => {
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
          expect(delaysUsed, 'a rung is a nap at least').to.be.within(1, 60)
        }
      }),
    )
  })
})
