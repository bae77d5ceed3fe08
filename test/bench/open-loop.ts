// Starts a process that offers sends at a fixed rate. In: a plan. Out: figures.
import { launchProcess } from './launch.ts'

export interface OpenLoopPlan {
  url: string
  key: string
  perSecond: number
  measureMs: number
  /** How long a caller waits before it hangs up. */
  patienceMs: number
}

export interface Timing {
  count: number
  /** Milliseconds from the request to its answer, a new connection included. */
  p50: number
  p99: number
}

export interface OpenLoopFigures {
  offeredPerSecond: number
  /** Answers that came while requests were offered. `accepted` and `refused` count the later ones too. */
  acceptedPerSecond: number
  refusedPerSecond: number
  /** Answered 200. */
  accepted: Timing
  /** Answered 503. */
  refused: Timing
  unanswered: number
  otherAnswers: number
  /** Processor time that the callers themselves took while they offered requests. */
  callersCpuMs: number
}

export async function offerOpenLoop(plan: OpenLoopPlan): Promise<OpenLoopFigures> {
  const process = launchProcess('open-loop.process', {}, [JSON.stringify(plan)])
  const told = await process.waitForLine(line => line.startsWith('{'))
  await process.exited
  return JSON.parse(told)
}
