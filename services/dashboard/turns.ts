// Changes of many documents that only count together: one at a time, whichever dashboard makes them. In: the name of what is changed, and
// the change. Out: what it answers, or 409 when another's takes too long. A dashboard that dies over one keeps others waiting for a while.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import { httpException } from '../../infra/http/problem.ts'
import type { LeaseDoc } from '../../infra/leases.ts'
import { createSerialRunner } from '../../infra/serial-runner.ts'
import type { Docs } from '../../infra/store/docs.ts'

/** `keep` goes before every write of a change: it is refused once the turn is another's. */
export type Turns = <Result>(name: string, change: (keep: () => Promise<void>) => Promise<Result>) => Promise<Result>

export interface TurnsDeps {
  leases: Pick<Docs<LeaseDoc>, 'modify' | 'insert' | 'remove'>
  clock: Clock
}

const FOR_MS = 30_000
/** With less than this left, a write might still be on its way when the turn is over. */
const LEAST_MS = 15_000
const PATIENCE_MS = 10_000
const AGAIN_MS = 25

export function turns({ leases, clock }: TurnsDeps): Turns {
  const holder = randomUUID()
  // Those of this process need not ask the store whose turn it is.
  const inTurn = createSerialRunner()

  async function take(_id: string): Promise<boolean> {
    const now = clock.now()
    const mine = { holder, until: now + FOR_MS }
    if (await leases.modify({ _id, until: { $lte: now } }, { $set: mine })) return true
    return (await leases.insert([{ _id, ...mine }]))[0] === 'inserted'
  }

  async function wait(_id: string): Promise<void> {
    const patientUntil = clock.now() + PATIENCE_MS
    while (!(await take(_id))) {
      if (clock.now() >= patientUntil)
        throw httpException(409, 'Another change of it is under way. Nothing was changed.')
      await new Promise<void>(resolve => void clock.after(AGAIN_MS, resolve))
    }
  }

  return (name, change) =>
    inTurn(name, async () => {
      const _id = `change:${name}`
      let until = clock.now() + FOR_MS
      await wait(_id)
      const keep = async (): Promise<void> => {
        if (until - clock.now() > LEAST_MS) return
        const next = clock.now() + FOR_MS
        if (!(await leases.modify({ _id, holder }, { $set: { until: next } })))
          throw httpException(
            409,
            'It took too long, and another change of it came in between. Look what there is now.',
          )
        until = next
      }
      try {
        return await change(keep)
      } finally {
        // What cannot be let go of lapses.
        await leases.remove({ _id, holder }, 1).catch(() => {})
      }
    })
}
