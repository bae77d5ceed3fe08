// What the list of queues says of one.
import { expect } from 'chai'
import { QUEUES } from '../../../../infra/broker/topology.ts'
import { ROLES } from '../../../../infra/config/roles.ts'
import {
  consumingRole,
  countWords,
  isStuck,
  oldestWords,
} from '../../../../services/dashboard/web/screens/queues/queue-figures.ts'

describe('a queue in words', () => {
  it('has an age where the broker tells one, and not on RabbitMQ', () => {
    expect(oldestWords({ oldest_ms: 65_000, broker_name: null })).to.equal('1 min 5 s')
    expect(oldestWords({ oldest_ms: 20, broker_name: null })).to.equal('under 1 s')
    expect(oldestWords({ oldest_ms: null, broker_name: null })).to.equal('none')
    expect(oldestWords({ oldest_ms: null, broker_name: 'countersign.v1.otp.reports' })).to.equal('not known')
    expect([countWords(1_200), countWords(null)]).to.deep.equal(['1,200', '–'])
  })

  it('is stuck when messages wait and nothing consumes', () => {
    expect(isStuck({ ready: 3, consumers: 0 })).to.equal(true)
    expect(isStuck({ ready: 0, consumers: 0 })).to.equal(false)
    expect(isStuck({ ready: 3, consumers: 1 })).to.equal(false)
    expect(isStuck({ ready: 3, consumers: null })).to.equal(false)
  })

  it('is consumed by a role that can be started', () => {
    for (const queue of QUEUES) expect(ROLES, queue).to.include(consumingRole(queue))
  })
})
