// The contract of the broker port, which runs on every adapter. In: a function that opens an adapter on fresh, empty queues. Out: mocha
// cases. RabbitMQ resolves a publish when it is confirmed, the embedded broker when it is handled, so no case waits for a publish before
// a consumer is attached.

import { callCases } from './broker/calls.ts'
import { deadLetterCases } from './broker/dead-letters.ts'
import { deliveryCases } from './broker/delivery.ts'
import { type BrokerFixture, type BrokerUnderTest, createBrokerFixture } from './broker/fixture.ts'
import { flowCases } from './broker/flow.ts'
import { retryCases } from './broker/retries.ts'
import { stoppingCases } from './broker/stopping.ts'
import { traceCases } from './broker/traces.ts'

export { type BrokerUnderTest, CONTRACT_TOPOLOGY } from './broker/fixture.ts'

export function brokerContract(title: string, open: () => Promise<BrokerUnderTest>): void {
  describe(`${title} keeps the contract of the broker port`, () => {
    let current: BrokerFixture
    const fixture = (): BrokerFixture => current
    beforeEach(async () => {
      current = createBrokerFixture(await open())
    })
    afterEach(() => current.tearDown())

    describe('delivery', () => deliveryCases(fixture))
    describe('flow', () => flowCases(fixture))
    describe('retries', () => retryCases(fixture))
    describe('dead letters', () => deadLetterCases(fixture))
    describe('calls', () => callCases(fixture))
    describe('stopping and closing', () => stoppingCases(fixture))
    describe('traces', () => traceCases(fixture))
  })
}
