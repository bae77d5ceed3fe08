// The turns of trials: one runs at a time, and a company has one that runs or waits. Its next one is refused meanwhile, unless the caller
// of the one before has left: then it waits until that one has ended.
import { createConcurrencyLimit } from '../../../infra/concurrency-limit.ts'
import { rateLimited } from '../../../infra/http/problem.ts'

const ONE_AT_A_TIME = 'Other settings of this company are being tried. Try again when that is over.'
const WAIT_MS = 10_000

export interface Turn {
  company_id: string
  /** Whether the caller has left. */
  isAbandoned(): boolean
}

export function createTurns() {
  const inTurn = createConcurrencyLimit(1)
  const latest = new Map<string, Turn>()

  return async <Result>(turn: Turn, task: () => Promise<Result>): Promise<Result> => {
    const { company_id } = turn
    if (latest.get(company_id)?.isAbandoned() === false)
      throw rateLimited({ scope: 'settings_trial', detail: ONE_AT_A_TIME, waitMs: WAIT_MS })
    latest.set(company_id, turn)
    try {
      return await inTurn(task)
    } finally {
      if (latest.get(company_id) === turn) latest.delete(company_id)
    }
  }
}
