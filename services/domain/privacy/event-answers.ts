// What is kept of a person with events. They hold ids and outcomes, of nobody once the verification is gone; but what an endpoint answered
// to them may say anything about anyone. In: events. Out: answers forgotten, and none kept of calls to come; old events removed.

import type { Pipeline } from '../../../infra/store/docs.ts'
import type { EventAttempt, EventDoc, WebhookStore } from '../webhooks/documents.ts'

/** Far more than the verifications of one batch have. */
const MAX_EVENTS = 10_000

/** Of the events of these verifications. Answers of how many. */
export async function eraseAnswersForOtps(
  store: WebhookStore,
  app_id: string,
  otp_ids: readonly string[],
): Promise<number> {
  const ofOtps = { app_id, 'payload.otp_id': { $in: [...otp_ids] } }
  const page = { sort: { 'payload.otp_id': 1, _id: -1 }, limit: MAX_EVENTS } as const
  return eraseAnswersOfEvents(store, await store.docs('events').find(ofOtps, page))
}

/** Of events as they were read. */
export async function eraseAnswersOfEvents(store: WebhookStore, events: readonly EventDoc[]): Promise<number> {
  const toErase = events.filter(event => event.hushed !== true || hasAnswer(event))
  const answers = await store.docs('events').change(toErase.map(({ _id }) => ({ _id, update: ERASE_ANSWERS })))
  return toErase.filter((event, at) => hasAnswer(event) && answers[at] === 'won').length
}

const hasAnswer = ({ attempts = [] }: EventDoc): boolean => attempts.some(({ response }) => response !== null)

const ATTEMPT_WITHOUT_ANSWER: { [M in keyof Omit<EventAttempt, 'response'>]: `$$attempt.${M}` } = {
  round: '$$attempt.round',
  attempt: '$$attempt.attempt',
  at: '$$attempt.at',
  ms: '$$attempt.ms',
  status: '$$attempt.status',
  error: '$$attempt.error',
}

/** Whatever its revision, which stays: whoever is calling for it must not be taken for overtaken, or the event would be sent once more. */
const ERASE_ANSWERS: Pipeline = [
  {
    $set: {
      attempts: {
        $map: {
          input: { $ifNull: ['$attempts', []] },
          as: 'attempt',
          in: { ...ATTEMPT_WITHOUT_ANSWER, response: null },
        },
      },
      hushed: true,
    },
  },
]

/** When anything last happened to it, or is to. */
export const lastActivityAt = ({ created_at, claimed_at = 0, next_attempt_at = 0, attempts = [] }: EventDoc): number =>
  Math.max(created_at, claimed_at, next_attempt_at, ...attempts.map(({ at }) => at))
