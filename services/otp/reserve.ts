// Takes from several limits at once, all or none. In: quotas in the order in which they answer. Out: a refusal, or a way to undo.
import type { Refusal } from '../../machines/calls.ts'
import type { Limits } from './limits.ts'
import type { Quota } from './quotas.ts'
import { limited } from './refusals.ts'

export interface Reservation {
  refusal?: Refusal
  /** Gives back what was taken; nothing after a refusal, which has given back already. */
  undo(): Promise<void>
}

export async function reserve(
  limits: Pick<Limits, 'take' | 'giveBack'>,
  quotas: readonly Quota[],
): Promise<Reservation> {
  const answers = await Promise.all(quotas.map(async quota => ({ quota, taken: await limits.take(quota) })))
  const undo = async (): Promise<void> => {
    await Promise.all(answers.filter(({ taken }) => taken.granted).map(({ quota }) => limits.giveBack(quota)))
  }
  for (const { quota, taken } of answers) {
    if (taken.granted) continue
    await undo()
    return { refusal: limited(quota.scope, taken.retry_after_ms), undo: async () => {} }
  }
  return { undo }
}
