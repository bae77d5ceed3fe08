// Takes verifications that are over out of the store, with all that belongs to them. They go last: whoever is cut off in between finds
// them again. Events stay: they hold ids and outcomes, of nobody once the verification is gone. But what an endpoint answered to
// them may say anything about anyone.
import type { EventDoc, OtpDoc } from '../otps/documents.ts'
import type { CountersignStore } from '../store/collections.ts'

export interface ErasedCounts {
  verifications: number
  /** Calls of providers. */
  attempts: number
  /** Of the sandbox. */
  messages: number
}

/** Owners whose calls are asked for in one go, and more calls than these have. */
const TOGETHER = 50
const MOST_ATTEMPTS = 100_000

export async function eraseVerifications(
  store: Pick<CountersignStore, 'docs'>,
  over: readonly OtpDoc[],
): Promise<ErasedCounts> {
  const deliveries = over.flatMap(({ context }) => context.deliveries.map(({ delivery_id }) => delivery_id))
  const [attempts, messages] = await Promise.all([
    // A word of thanks belongs to the verification, not to a delivery of it.
    eraseAttempts(store, [...deliveries, ...over.map(({ _id }) => _id)]),
    deliveries.length === 0
      ? 0
      : store.docs('sandbox_messages').remove({ _id: { $in: deliveries } }, deliveries.length),
  ])
  const ids = over.map(({ _id }) => _id)
  const verifications = ids.length === 0 ? 0 : await store.docs('otps').remove({ _id: { $in: ids } }, ids.length)
  return { verifications, attempts, messages }
}

/** Their ids begin with that of what they were for. */
async function eraseAttempts(store: Pick<CountersignStore, 'docs'>, owners: readonly string[]): Promise<number> {
  let erased = 0
  for (let at = 0; at < owners.length; at += TOGETHER) {
    const some = owners.slice(at, at + TOGETHER)
    const $or = some.map(id => ({ _id: { $gte: `${id}:`, $lt: `${id};` } }))
    erased += await store.docs('attempts').remove({ $or }, MOST_ATTEMPTS)
  }
  return erased
}

const MOST_EVENTS = 10_000
/** The event is being sent meanwhile, and what becomes of that is written first. */
const MOST_TRIES = 5

/** Forgets what endpoints answered to the events of these verifications. Answers of how many. */
export async function eraseAnswers(
  store: Pick<CountersignStore, 'docs'>,
  app_id: string,
  otp_ids: readonly string[],
): Promise<number> {
  const events = store.docs('events')
  let erased = 0
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const caused = { app_id, 'payload.otp_id': { $in: [...otp_ids] } }
    const found = await events.find(caused, { sort: { 'payload.otp_id': 1, _id: -1 }, limit: MOST_EVENTS })
    const telling = found.filter(({ attempts = [] }) => attempts.some(({ response }) => response !== null))
    if (telling.length === 0) break
    const answers = await events.change(
      telling.map(({ _id, rev, attempts }) => ({ _id, rev, update: { $set: { attempts: silent(attempts) } } })),
    )
    erased += answers.filter(answer => answer === 'won').length
  }
  return erased
}

const silent = (attempts: EventDoc['attempts'] = []) => attempts.map(attempt => ({ ...attempt, response: null }))

export const summed = <C extends object>(one: C, other: C): C =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, Number(count) + Number(other[name as keyof C] ?? 0)]),
  ) as C
