// What endpoints answered to events: opened for people to read, and erased. In: events. Out: their answers and traces
// erased, and no answer kept from later calls. An event itself holds ids and outcomes, which identify no person once
// the verification is erased; but an endpoint's answer may contain personal data.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Pipeline } from '../../../infra/store/docs.ts'
import { type EventAttempt, type EventDoc, eventAnswerContext, type WebhookStore } from '../webhooks/documents.ts'

/** Null without an answer, and when its data key is no longer configured. */
export const answerText = (
  keyring: Pick<Keyring, 'unseal'>,
  eventDocId: string,
  sealed: string | null,
): string | null => (sealed === null ? null : unsealOrNull(keyring, sealed, eventAnswerContext(eventDocId)))

/** Far more events than the verifications of one batch have. */
const MAX_EVENTS = 10_000

/** Answers how many events had an answer to erase. */
export async function eraseAnswersForOtps(
  store: WebhookStore,
  app_id: string,
  otp_ids: readonly string[],
): Promise<number> {
  const ofOtps = { app_id, 'payload.otp_id': { $in: [...otp_ids] } }
  const page = { sort: { 'payload.otp_id': 1, _id: -1 }, limit: MAX_EVENTS } as const
  return eraseAnswersOfEvents(store, await store.docs('events').find(ofOtps, page))
}

/** `events` as they were read. */
export async function eraseAnswersOfEvents(store: WebhookStore, events: readonly EventDoc[]): Promise<number> {
  const toErase = events.filter(event => event.discard_answers !== true || hasAnswer(event))
  const answers = await store.docs('events').update([{ ids: toErase.map(({ _id }) => _id), update: ERASE_ANSWERS }])
  return toErase.filter((event, at) => hasAnswer(event) && answers[at] === 'updated').length
}

const hasAnswer = ({ attempts }: EventDoc): boolean => attempts.some(({ sealed_response }) => sealed_response !== null)

const ATTEMPT_WITHOUT_ANSWER: { [M in keyof Omit<EventAttempt, 'sealed_response'>]: `$$attempt.${M}` } = {
  round: '$$attempt.round',
  attempt: '$$attempt.attempt',
  at: '$$attempt.at',
  ms: '$$attempt.ms',
  status: '$$attempt.status',
  error: '$$attempt.error',
}

/** `sealed_response`: an expression of `$$attempt`. */
const attemptsWithAnswer = (sealed_response: unknown) => ({
  $map: { input: '$attempts', as: 'attempt', in: { ...ATTEMPT_WITHOUT_ANSWER, sealed_response } },
})

/** The revision stays as it is: a process that is calling the endpoint would otherwise lose its own change, and the event would be sent
 *  again. */
const ERASE_ANSWERS: Pipeline = [
  { $set: { attempts: attemptsWithAnswer(null), discard_answers: true } },
  // The caller chose the request id. It may lead to the person in the caller's own records.
  { $unset: ['trace'] },
]

/** Puts answers that were sealed again in the place of the former ones, by their sealed texts. One that was erased meanwhile
 *  stays away, and the revision as it is. */
export const replaceAnswers = (renewed: ReadonlyMap<string, string>): Pipeline => {
  const current: unknown = '$$attempt.sealed_response'
  const answer = [...renewed].reduce(
    (other, [former, sealed]) => ({ $cond: [{ $eq: [current, former] }, sealed, other] }),
    current,
  )
  return [{ $set: { attempts: attemptsWithAnswer(answer) } }]
}

/** When anything last happened to an event, or is planned to. */
export const lastActivityAt = ({
  created_at,
  attempt_started_at = 0,
  next_attempt_at = 0,
  attempts,
}: EventDoc): number => Math.max(created_at, attempt_started_at, next_attempt_at, ...attempts.map(({ at }) => at))
