// What the list of queues says of one.
import { expect } from 'chai'
import { QUEUES } from '../../../../infra/broker/topology.ts'
import { ROLES } from '../../../../infra/config/roles.ts'
import { consumingRole, isStuck } from '../../../../services/dashboard/web/screens/queues/queue-figures.ts'

describe('a queue in words', () => {
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
