// What is kept of a person with events. They hold ids and outcomes, of nobody once the verification is gone; but what an endpoint answered
// to them may say anything about anyone. In: events. Out: answers forgotten, and none kept of calls to come; old events removed.
import type { EventDoc } from '../otps/documents.ts'
import type { CountersignStore } from '../store/collections.ts'

type Store = Pick<CountersignStore, 'docs'>

const MOST_EVENTS = 10_000
/** The event is being sent meanwhile, and what becomes of that is written first. */
const MOST_TRIES = 5
const HUSHED = { $set: { hushed: true } } as const

/** Of the events of these verifications. Answers of how many. */
export async function eraseAnswers(store: Store, app_id: string, otp_ids: readonly string[]): Promise<number> {
  const caused = { app_id, 'payload.otp_id': { $in: [...otp_ids] } }
  const page = { sort: { 'payload.otp_id': 1, _id: -1 }, limit: MOST_EVENTS } as const
  return hushed(store, () => store.docs('events').find(caused, page))
}

/** Of events as they were read. */
export const eraseAnswersOf = (store: Store, events: readonly EventDoc[]): Promise<number> => {
  const ids = events.filter(isTelling).map(({ _id }) => _id)
  return hushed(store, async () => (ids.length === 0 ? [] : [...(await store.docs('events').get(ids)).values()]))
}

async function hushed(store: Store, look: () => Promise<readonly EventDoc[]>): Promise<number> {
  const events = store.docs('events')
  let erased = 0
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const telling = (await look()).filter(isTelling)
    if (telling.length === 0) break
    const [answered, silent] = [telling.filter(hasAnswer), telling.filter(event => !hasAnswer(event))]
    const answers = await events.change(
      answered.map(({ _id, rev, attempts }) => ({
        _id,
        rev,
        update: { $set: { attempts: mute(attempts), hushed: true } },
      })),
    )
    erased += answers.filter(answer => answer === 'won').length
    // Not by its revision: whoever is calling for it must not be taken for overtaken, or the event would be sent once more.
    await events.change(silent.map(({ _id }) => ({ _id, update: HUSHED })))
  }
  return erased
}

const hasAnswer = ({ attempts = [] }: EventDoc): boolean => attempts.some(({ response }) => response !== null)
const isTelling = (event: EventDoc): boolean => event.hushed !== true || hasAnswer(event)

const mute = (attempts: EventDoc['attempts'] = []) => attempts.map(attempt => ({ ...attempt, response: null }))

/** When anything last happened to it, or is to. */
export const lastTouched = ({ created_at, claimed_at = 0, next_attempt_at = 0, attempts = [] }: EventDoc): number =>
  Math.max(created_at, claimed_at, next_attempt_at, ...attempts.map(({ at }) => at))
