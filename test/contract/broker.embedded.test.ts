import { createEmbeddedBroker } from '../../infra/broker/embedded.ts'
import { testClock } from '../support/clock.ts'
import { brokerContract, CONTRACT_TOPOLOGY } from './broker.contract.ts'

brokerContract('embedded broker', async () => {
  const clock = testClock()
  const broker = createEmbeddedBroker({ topology: CONTRACT_TOPOLOGY, clock })
  return { broker, other: broker, clock, close: () => broker.close(0) }
})
