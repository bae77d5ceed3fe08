// The consuming side of the broker's measurements: answers calls with their body and drops work.
import { type Broker, done, type Flow } from '../../infra/broker/broker.ts'
import { createTopology } from '../../infra/broker/topology.ts'

export const BENCH_TOPOLOGY = createTopology({ channel: [1_000], webhook: [1_000] })

export const PLAIN: Flow = { prefetch: 256, batch: 1 }
export const TOGETHER: Flow = { prefetch: 256, batch: 256 }

export async function serveEcho(broker: Broker, flow: Flow): Promise<void> {
  await broker.serve('otp.calls', async calls => calls.map(call => call.body), flow)
  await broker.consume('channel.sms', async messages => messages.map(done), flow)
}
