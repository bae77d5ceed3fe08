// Sends over HTTP: one process per role on real engines against the bare pipeline; all in one on the embedded engines against the
// real ones.
import { build } from './built.ts'
import { load } from './load.ts'
import { contest } from './rounds.ts'
import { ALL_IN_ONE, type Bare, bare, type Countersign, countersign, ONE_PROCESS_PER_ROLE } from './systems.ts'
import { closing, needsRealEngines, ROUND, ROUNDS } from './under-load.ts'

export default async function send(): Promise<void> {
  if (!needsRealEngines('send')) return
  await build()
  await closing([countersign('real', ONE_PROCESS_PER_ROLE), bare()], async ([product, yardstick]) => {
    for (const connections of [64, 128]) await compare(product, yardstick, { connections })
    await compare(product, yardstick, { connections: 64, full: true })
  })
  await closing([countersign('embedded', ALL_IN_ONE), countersign('real', ONE_PROCESS_PER_ROLE)], ([one, apart]) =>
    contest({
      ...{ what: 'sends, 64 connections', rounds: ROUNDS, aims: false },
      yardstick: { name: 'one process per role, RabbitMQ and MongoDB', round: () => sends(apart, { connections: 64 }) },
      product: { name: 'all in one, embedded engines', round: () => sends(one, { connections: 64 }) },
    }),
  )
}

interface Shape {
  connections: number
  full?: boolean
}

const compare = (product: Countersign, yardstick: Bare, shape: Shape): Promise<void> =>
  contest({
    what: `sends, ${shape.connections} connections${shape.full ? ', with client_ip and idempotency-key' : ''}`,
    ...{ rounds: ROUNDS, aims: !shape.full },
    yardstick: { name: 'bare pipeline', round: () => bareSends(yardstick, shape.connections) },
    product: { name: 'one process per role', round: () => sends(product, shape) },
  })

const sends = ({ url, key }: Countersign, shape: Shape) => load({ url, key, ...ROUND, ...shape, untilDelivered: true })

export async function bareSends({ url, key, tidy }: Bare, connections: number) {
  const figures = await load({ url, key, ...ROUND, connections })
  await tidy()
  return { ...figures, deliveredAfterMs: 0 }
}
