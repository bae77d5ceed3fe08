// Takes from several limits, from all or from none. In: quotas; if several are full, the first one refuses. Out: a refusal, or a way to
// undo.
import type { Refusal } from '../../machines/calls.ts'
import type { Limits } from './limits/limits.ts'
import type { Quota } from './limits/quotas.ts'
import type { TakeResult } from './limits/windows.ts'
import { limitRefusal } from './refusals.ts'

export interface Reservation {
  refusal?: Refusal
  /** Gives back what was taken. After a refusal there is nothing to give back. */
  undo(): Promise<void>
  /** It holds for the document it was made for only: after a lost race it is asked for again. */
  forOneTry?: true
}

export const NO_RESERVATION: Reservation = { undo: async () => {} }

type QuotaResult = { quota: Quota; taken: TakeResult }

export async function reserve(
  limits: Pick<Limits, 'peek' | 'peekIfRefusedBefore' | 'take' | 'giveBack'>,
  quotas: readonly Quota[],
): Promise<Reservation> {
  const askAll = (how: (quota: Quota) => Promise<TakeResult>): Promise<QuotaResult[]> =>
    Promise.all(quotas.map(async quota => ({ quota, taken: await how(quota) })))

  // Calls that one full limit refuses must not take from the other limits, not even until they give back: that would refuse others.
  // If a limit known to be full is still full, all limits are asked, so that the first full one refuses.
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

/** Makes a second reservation after the first. If the second is refused or throws, the first is given back. */
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
