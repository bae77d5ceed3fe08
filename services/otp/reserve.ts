// Takes from several limits at once, all or none. In: quotas in the order in which they answer. Out: a refusal, or a way to undo.
import type { Refusal } from '../../machines/calls.ts'
import type { Limits } from './limits/limits.ts'
import type { Quota } from './limits/quotas.ts'
import type { Taken } from './limits/windows.ts'
import { limited } from './refusals.ts'

export interface Reservation {
  refusal?: Refusal
  /** Gives back what was taken; nothing after a refusal, which has given back already. */
  undo(): Promise<void>
}

/** Nothing was taken, so there is nothing to give back. */
export const NOTHING: Reservation = { undo: async () => {} }

type Asked = { quota: Quota; taken: Taken }

export async function reserve(
  limits: Pick<Limits, 'look' | 'lookAgain' | 'take' | 'giveBack'>,
  quotas: readonly Quota[],
): Promise<Reservation> {
  const ask = (how: (quota: Quota) => Promise<Taken>): Promise<Asked[]> =>
    Promise.all(quotas.map(async quota => ({ quota, taken: await how(quota) })))

  // A flood against one limit that is full must not take from the others, not even for the moment until it is given back.
  // When several are full, the first of all of them answers.
  const full = refusalIn(await ask(limits.lookAgain)) && refusalIn(await ask(limits.look))
  if (full) return { ...NOTHING, refusal: full }

  const answers = await ask(limits.take)
  const undo = async (): Promise<void> => {
    await Promise.all(answers.filter(({ taken }) => taken.granted).map(({ quota }) => limits.giveBack(quota)))
  }
  const refusal = refusalIn(answers)
  if (!refusal) return { undo }
  await undo()
  return { ...NOTHING, refusal }
}

/** One after the other: what the second refuses gives back what the first took. */
export async function joined(first: Reservation, second: () => Promise<Reservation>): Promise<Reservation> {
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

function refusalIn(answers: readonly Asked[]): Refusal | undefined {
  for (const { quota, taken } of answers) if (!taken.granted) return limited(quota.scope, taken.retry_after_ms)
  return undefined
}
