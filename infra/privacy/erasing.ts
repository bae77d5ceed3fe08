// Takes verifications that are over out of the store, with all that belongs to them. They go last: whoever is cut off in between finds
// them again. Events stay: they hold ids and outcomes, of nobody once the verification is gone.
import type { OtpDoc } from '../otps/documents.ts'
import type { CountersignStore } from '../store/collections.ts'

export interface ErasedCounts {
  verifications: number
  /** Calls of providers. */
  attempts: number
  /** Of the sandbox. */
  messages: number
}

/** More calls than any delivery has. */
const MOST_ATTEMPTS = 10_000

export async function eraseVerifications(
  store: Pick<CountersignStore, 'docs'>,
  over: readonly OtpDoc[],
): Promise<ErasedCounts> {
  const deliveries = over.flatMap(({ context }) => context.deliveries.map(({ delivery_id }) => delivery_id))
  const [attempts, messages] = await Promise.all([
    Promise.all(deliveries.map(id => eraseAttempts(store, id))),
    deliveries.length === 0
      ? 0
      : store.docs('sandbox_messages').remove({ _id: { $in: deliveries } }, deliveries.length),
  ])
  const ids = over.map(({ _id }) => _id)
  const verifications = ids.length === 0 ? 0 : await store.docs('otps').remove({ _id: { $in: ids } }, ids.length)
  return { verifications, attempts: attempts.reduce((sum, each) => sum + each, 0), messages }
}

const eraseAttempts = (store: Pick<CountersignStore, 'docs'>, delivery_id: string): Promise<number> =>
  store.docs('attempts').remove({ _id: { $gte: `${delivery_id}:`, $lt: `${delivery_id};` } }, MOST_ATTEMPTS)

export const summed = <C extends object>(one: C, other: C): C =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, Number(count) + Number(other[name as keyof C] ?? 0)]),
  ) as C
