// Starts a load process for one round. In: a plan. Out: figures.
import { launchProcess } from './build.ts'

export interface LoadPlan {
  url: string
  key: string
  connections: number
  /** Not counted, because caches are empty and code is being compiled. */
  warmUpMs: number
  measureMs: number
  /** Sends carry a client address and an idempotency key. */
  full?: boolean
  /** Sends this number of requests instead of sending for a time. All are counted. */
  maxRequests?: number
  /** Verifies instead of sending. So many verifications are sent beforehand; `env` holds the secrets of their codes. */
  verify?: { verifications: number; env: Record<string, string> }
  /** Waits until the last message is delivered, so that no work is left for the next round. */
  untilDelivered?: boolean
}

export interface Figures {
  perSecond: number
  p50: number
  p99: number
  /** From the last answer until the last message was delivered. */
  deliveredAfterMs: number
}

export async function load(plan: LoadPlan): Promise<Figures> {
  const process = launchProcess('load.process', {}, [JSON.stringify(plan)])
  const told = await process.waitForLine(line => line.startsWith('{'))
  await process.exited
  return JSON.parse(told)
}
