// The promises of the broker port, as one suite run on every adapter.
// In: a way to open an adapter on fresh, empty queues. Out: mocha cases.
// RabbitMQ resolves a publish when it is confirmed, the embedded broker when it was handled. So no case here waits for a publish
// before its consumer is there, and every case holds under both.
import { type Bench, type BrokerUnderTest, bench } from './broker/bench.ts'
import { callCases } from './broker/calls.ts'
import { deadLetterCases } from './broker/dead-letters.ts'
import { deliveryCases } from './broker/delivery.ts'
import { flowCases } from './broker/flow.ts'
import { retryCases } from './broker/retries.ts'
import { stoppingCases } from './broker/stopping.ts'

export { type BrokerUnderTest, CONTRACT_TOPOLOGY } from './broker/bench.ts'

export function brokerContract(title: string, open: () => Promise<BrokerUnderTest>): void {
  describe(`${title} keeps the broker's promises`, () => {
    let current: Bench
    const at = (): Bench => current
    beforeEach(async () => {
      current = bench(await open())
    })
    afterEach(() => current.tearDown())

    describe('delivery', () => deliveryCases(at))
    describe('flow', () => flowCases(at))
    describe('retries', () => retryCases(at))
    describe('dead letters', () => deadLetterCases(at))
    describe('calls', () => callCases(at))
    describe('stopping and closing', () => stoppingCases(at))
  })
}
