// Starts a load process for one round. In: a plan. Out: figures.
import { launchProcess } from './launch.ts'

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
  /** Makes a send again that is refused with 503, as on a machine that is too busy to answer in time. */
  repeatRefused?: boolean
  /** The mean pause of a caller between an answer and its next request; none unless told. Pauses vary as between independent callers. */
  pauseMs?: number
  /** Waits for SIGUSR2 before the first request that is counted. */
  paused?: boolean
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

/** `beforeLoad` runs when everything is prepared, and delays the first request that is counted. */
export async function load(plan: LoadPlan, beforeLoad?: () => Promise<void>): Promise<Figures> {
  const paused = beforeLoad !== undefined
  const child = launchProcess('load.process', {}, [JSON.stringify({ ...plan, paused } satisfies LoadPlan)])
  if (paused) {
    await child.waitForLine(line => line === 'paused')
    await beforeLoad()
    child.process.kill('SIGUSR2')
  }
  const told = await child.waitForLine(line => line.startsWith('{'))
  await child.exited
  return JSON.parse(told)
}
