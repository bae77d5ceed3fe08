// Measures a broker alone: a call at idle, calls under load one by one and together, durable messages.
import type { Broker } from '../../infra/broker/broker.ts'
import type { BrokerBench } from './engine-sets.ts'
import { durations, medians, perSecond, quantile } from './measure.ts'
import { print } from './report.ts'
import { CALL } from './samples.ts'

const CALLS_IN_FLIGHT = 256
const IDLE_CALLS = 300
const BUDGET_MS = 10_000

let messages = 0
const message = () => ({ id: `m${++messages}`, body: CALL })
const call = (broker: Broker) => broker.request('otp.calls', message(), BUDGET_MS)

export async function measureBroker(bench: BrokerBench): Promise<void> {
  await idleCalls(bench)
  await busyCalls(bench)
  await durableMessages(bench)
}

async function idleCalls({ together, bare, bareName }: BrokerBench): Promise<void> {
  const slowest: number[] = []
  const idle = (work: () => Promise<unknown>, all?: number[]) => async (): Promise<number> => {
    const times = await durations(IDLE_CALLS, work)
    all?.push(...times)
    return quantile(times, 0.5)
  }
  await durations(IDLE_CALLS, () => call(together)) // warm-up
  const figures = await medians({ bare: idle(bare), port: idle(() => call(together), slowest) })
  print({
    what: 'request and reply at idle, one after the other, p50',
    unit: 'ms',
    baseline: { name: bareName, value: figures.bare },
    variants: [{ name: 'broker.request', value: figures.port, note: `p99 ${quantile(slowest, 0.99).toFixed(3)} ms` }],
    aim: { says: '< 2 ms', holds: ms => ms < 2 },
  })
}

/** In process there is no network. Calls in batches can gain little there, so there is no aim. */
async function busyCalls({ plain, together, overWire }: BrokerBench): Promise<void> {
  const calls = (broker: Broker) => perSecond(CALLS_IN_FLIGHT, () => call(broker).then(() => 1))
  const figures = await medians({ plain: calls(plain), together: calls(together) })
  print({
    what: `requests, ${CALLS_IN_FLIGHT} waiting at any time`,
    unit: 'per second',
    baseline: { name: 'each call alone', value: figures.plain },
    variants: [{ name: 'those of one turn together', value: figures.together }],
    ...(overWire ? { aim: { says: '≥ 2 ×', holds: (_: number, ratio: number) => ratio >= 2 } } : {}),
  })
}

async function durableMessages({ together }: BrokerBench): Promise<void> {
  const publish = () => together.publish('channel.sms', message()).then(() => 1)
  const figures = await medians({ alone: perSecond(1, publish), many: perSecond(CALLS_IN_FLIGHT, publish) })
  print({
    what: 'durable messages confirmed, a consumer attached',
    unit: 'per second',
    baseline: { name: 'one after the other', value: figures.alone },
    variants: [{ name: `${CALLS_IN_FLIGHT} waiting at any time`, value: figures.many }],
  })
}
