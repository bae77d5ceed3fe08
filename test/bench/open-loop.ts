// Starts a process that offers sends at a fixed rate. In: a plan. Out: figures.
import type { AnswerFigures } from './answers.ts'
import { launchProcess } from './launch.ts'

export interface OpenLoopPlan {
  url: string
  key: string
  perSecond: number
  measureMs: number
  /** How long a caller waits before it hangs up. */
  patienceMs: number
}

export interface OpenLoopFigures extends AnswerFigures {
  offeredPerSecond: number
}

export async function offerOpenLoop(plan: OpenLoopPlan): Promise<OpenLoopFigures> {
  const process = launchProcess('open-loop.process', {}, [JSON.stringify(plan)])
  const told = await process.waitForLine(line => line.startsWith('{'))
  await process.exited
  return JSON.parse(told)
}
