// Starts a process of callers that repeat a refused send at once. In: a plan. Out: figures.
import type { AnswerFigures } from './answers.ts'
import { launchProcess } from './launch.ts'

export interface RetryStormPlan {
  url: string
  key: string
  /** Each has a connection that it keeps, and one request under way. */
  callers: number
  stormMs: number
  /** How long a caller waits before it hangs up. */
  patienceMs: number
  /** So many callers go on afterwards. */
  callersAfterwards: number
  /** From the end of the storm on. Their answers count after `recoverMs`, for `afterwardsMs`. */
  recoverMs: number
  afterwardsMs: number
}

export interface RetryStormFigures extends AnswerFigures {
  acceptedPerSecondAfterwards: number
}

interface RetryStorm {
  /** Resolves when all connections are open. */
  begun: Promise<unknown>
  figures: Promise<RetryStormFigures>
}

export function startRetryStorm(plan: RetryStormPlan): RetryStorm {
  const process = launchProcess('retry-storm.process', {}, [JSON.stringify(plan)])
  const told = process.waitForLine(line => line.startsWith('{'))
  return {
    begun: process.waitForLine(line => line === 'begun'),
    figures: told.then(async figures => {
      await process.exited
      return JSON.parse(figures)
    }),
  }
}
