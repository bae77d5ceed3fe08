// Takes from several limits at once, all or none. In: quotas in the order in which they answer. Out: a refusal, or a way to undo.
import type { Refusal } from '../../machines/calls.ts'
import type { Limits } from './limits/limits.ts'
import type { Quota } from './limits/quotas.ts'
import type { TakeResult } from './limits/windows.ts'
import { limitRefusal } from './refusals.ts'

export interface Reservation {
  refusal?: Refusal
  /** Gives back what was taken; nothing after a refusal, which has given back already. */
  undo(): Promise<void>
}

/** Nothing was taken, so there is nothing to give back. */
export const NO_RESERVATION: Reservation = { undo: async () => {} }

type QuotaResult = { quota: Quota; taken: TakeResult }

export async function reserve(
  limits: Pick<Limits, 'peek' | 'peekIfRefusedBefore' | 'take' | 'giveBack'>,
  quotas: readonly Quota[],
): Promise<Reservation> {
  const askAll = (how: (quota: Quota) => Promise<TakeResult>): Promise<QuotaResult[]> =>
    Promise.all(quotas.map(async quota => ({ quota, taken: await how(quota) })))

  // A flood against one limit that is full must not take from the others, not even for the moment until it is given back.
  // When several are full, the first of all of them answers.
  const full = refusalIn(await askAll(limits.peekIfRefusedBefore)) && refusalIn(await askAll(limits.peek))
  if (full) return { ...NO_RESERVATION, refusal: full }

  const answers = await askAll(limits.take)
  const undo = async (): Promise<void> => {
    await Promise.all(answers.filter(({ taken }) => taken.granted).map(({ quota }) => limits.giveBack(quota)))
  }
  const refusal = refusalIn(answers)
  if (!refusal) return { undo }
  await undo()
  return { ...NO_RESERVATION, refusal }
}

/** One after the other: what the second refuses gives back what the first took. */
export async function chainReservations(first: Reservation, second: () => Promise<Reservation>): Promise<Reservation> {
  if (first.refusal) return first
  const more = await second().catch(async error => {
    await first.undo().catch(() => {})
    throw error
  })
  if (more.refusal) {
    await first.undo()
    return more
  }
  return { undo: async () => void (await Promise.all([first.undo(), more.undo()])) }
}

function refusalIn(answers: readonly QuotaResult[]): Refusal | undefined {
  for (const { quota, taken } of answers) if (!taken.granted) return limitRefusal(quota.scope, taken.retry_after_ms)
  return undefined
}
