// What a load process is told to do, what it tells, and how it is started: a process of its own, for one round.
import { launchProcess } from './build.ts'

export interface Job {
  url: string
  key: string
  connections: number
  /** Not counted: caches fill, code is compiled. */
  warmUpMs: number
  measureMs: number
  /** Sends carry a client address and an idempotency key. */
  full?: boolean
  /** Instead of a time: no more than so many requests, all of them counted. */
  most?: number
  /** Verify instead of sending: so many are sent beforehand; `env` has what their codes are derived from. */
  verify?: { verifications: number; env: Record<string, string> }
  /** Wait until the last message sent is delivered, so that the next round begins with nothing left to do. */
  untilDelivered?: boolean
}

export interface Figures {
  perSecond: number
  p50: number
  p99: number
  /** From the last answer until the last message was delivered. */
  deliveredAfterMs: number
}

export async function load(job: Job): Promise<Figures> {
  const process = launchProcess('load.process', {}, [JSON.stringify(job)])
  const told = await process.waitForLine(line => line.startsWith('{'))
  await process.exited
  return JSON.parse(told)
}
