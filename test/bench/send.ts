// Sends over HTTP, on RabbitMQ and MongoDB with one process per role, compared with the bare pipeline: with all consumers, and without
// any, as the bare pipeline is. Then one process on the embedded engines, compared with one on the real engines.
import { type Comparison, runComparison } from './comparison.ts'
import { type Figures, load } from './load.ts'
import {
  ALL_IN_ONE,
  type Bare,
  type Countersign,
  ONE_PROCESS_PER_ROLE,
  startBare,
  startCountersign,
  WITHOUT_CONSUMERS,
} from './systems.ts'
import { AIMS_AGAINST_BARE, needsRealEngines, ROUND, ROUNDS, useAndClose } from './under-load.ts'

export default async function send(): Promise<void> {
  if (!needsRealEngines('send')) return
  await useAndClose([startCountersign('real', ONE_PROCESS_PER_ROLE), startBare()], async ([product, baseline]) => {
    const name = 'one process per role'
    const against = (shape: Shape, more: Partial<Comparison> = {}): Promise<void> =>
      toBare(shape, { name, round: () => sends(product, shape) }, baseline, more)
    await against({ connections: 64 }, { aims: AIMS_AGAINST_BARE })
    await against({ connections: 128 }, { aims: AIMS_AGAINST_BARE })
    await against({ connections: 64, full: true })
  })
  await useAndClose([startCountersign('real', WITHOUT_CONSUMERS), startBare()], async ([product, baseline]) => {
    const shape = { connections: 64 }
    await toBare(shape, { name: 'edge and otp alone', round: () => accepted(product, shape) }, baseline)
  })
  await useAndClose(
    [startCountersign('embedded', ALL_IN_ONE), startCountersign('real', ONE_PROCESS_PER_ROLE)],
    ([one, apart]) =>
      runComparison({
        what: 'sends, 64 connections',
        rounds: ROUNDS,
        aims: { minRatio: 1, maxP99Ratio: 1 },
        baseline: {
          name: 'one process per role, RabbitMQ and MongoDB',
          round: () => sends(apart, { connections: 64 }),
        },
        product: { name: 'all in one, embedded engines', round: () => sends(one, { connections: 64 }) },
      }),
  )
}

interface Shape {
  connections: number
  full?: boolean
}

const toBare = (
  { connections, full }: Shape,
  product: Comparison['product'],
  baseline: Bare,
  more: Partial<Comparison> = {},
): Promise<void> =>
  runComparison({
    what: `sends, ${connections} connections${full ? ', with client_ip and idempotency-key' : ''}`,
    baseline: { name: 'bare pipeline', round: () => bareSends(baseline, connections) },
    rounds: ROUNDS,
    product,
    ...more,
  })

export const sends = ({ url, key }: Countersign, shape: Shape): Promise<Figures> =>
  load({ url, key, ...ROUND, ...shape, untilDelivered: true })

const accepted = ({ url, key }: Countersign, shape: Shape): Promise<Figures> => load({ url, key, ...ROUND, ...shape })

export async function bareSends({ url, key, tidy }: Bare, connections: number): Promise<Figures> {
  const figures = await load({ url, key, ...ROUND, connections })
  await tidy()
  return figures
}
