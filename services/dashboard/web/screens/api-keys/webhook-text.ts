// Webhooks in words. In: endpoints, events and attempts as the admin API answers them. Out: the sentences that the screen shows of them.
import { isSuccess } from '../../../../../machines/endpoint.ts'
import type { Schemas } from '../../api/schema.ts'

export type Endpoint = Schemas['WebhookEndpoint']
export type WebhookEvent = Schemas['WebhookEvent']
export type Attempt = Schemas['WebhookAttempt']
export type SigningSecret = Schemas['SigningSecret']

/** An endpoint without a name is known by its host. */
export const endpointTitle = ({ name, url }: Pick<Endpoint, 'name' | 'url'>): string =>
  name ?? (URL.canParse(url) ? new URL(url).host : url)

/** Why an endpoint is not called. */
export const PAUSE_REASONS: Readonly<Record<Schemas['PauseReason'], string>> = {
  exhausted: 'An event used up all its attempts, so your endpoint is no longer called.',
  gone: 'Your endpoint answered 410 Gone, which asks for no more calls.',
  failing: 'Your endpoint failed 100 times in a row, for more than an hour, so it is no longer called.',
  operator: 'Delivery was stopped by hand.',
}

const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'No answer within 15 s',
  unreachable: 'No connection to your endpoint',
  forbidden: 'Not called: the address is not public, or not https',
  lost: 'The connection broke before an answer came',
  stopped: 'Countersign stopped during the call, and makes it again',
  unsigned: 'Not called: no secret could be opened to sign with',
  unknown: 'Countersign did not see how the call ended, and makes it again',
}

/** What to do about a call that got no answer. */
const REMEDIES: Readonly<Record<string, string>> = {
  timeout: 'Answer first, and do the work afterwards.',
  unreachable: 'Check the address, and that your server runs and can be reached from where Countersign runs.',
  forbidden: 'Enter a public https address, or have an operator allow private ones (ALLOW_PRIVATE_TARGETS).',
  unsigned: 'Make a new signing secret.',
}

export const remedyOf = ({ status, error }: Pick<Attempt, 'status' | 'error'>): string | null =>
  status === null ? (REMEDIES[error ?? ''] ?? null) : null

/** How one call of the endpoint ended, such as "Answered 500 in 34 ms". */
export function attemptResult({ status, error, ms }: Pick<Attempt, 'status' | 'error' | 'ms'>): string {
  if (status === null) return ERRORS[error ?? ''] ?? `No answer: ${error}`
  return ms === null ? `Answered ${status}` : `Answered ${status} in ${ms} ms`
}

export interface Failure {
  event: WebhookEvent
  attempt: Attempt
}

/** The latest failed calls, the newest first. Events may be in both lists. */
export function latestFailures(lists: readonly (readonly WebhookEvent[])[], count: number): Failure[] {
  const events = new Map(lists.flat().map(event => [`${event.id} ${event.endpoint_id}`, event]))
  return [...events.values()]
    .flatMap(event => event.attempts.filter(attempt => !isSuccess(attempt)).map(attempt => ({ event, attempt })))
    .sort((a, b) => b.attempt.at.localeCompare(a.attempt.at))
    .slice(0, count)
}

export const EVENT_STATUSES: Readonly<
  Record<WebhookEvent['status'], { tone: 'neutral' | 'info' | 'warning' | 'good' | 'bad'; meaning: string }>
> = {
  unsent: { tone: 'neutral', meaning: 'No endpoint asked for it when it happened, or its endpoint was deleted.' },
  pending: { tone: 'info', meaning: 'It waits for its next attempt, or an attempt is under way.' },
  held: { tone: 'warning', meaning: 'The endpoint is paused. It is sent once the endpoint is re-enabled.' },
  delivered: { tone: 'good', meaning: 'Your endpoint took it.' },
  failed: { tone: 'bad', meaning: 'Its attempts are used up. Re-enabling the endpoint, or a replay, sends it again.' },
}

/** What came of a test event so far. Null while it waits for its first attempt. */
export function testResult(event: WebhookEvent): { tone: 'good' | 'warning' | 'bad'; sentence: string } | null {
  const last = event.attempts.at(-1)
  if (event.status === 'delivered' && last)
    return { tone: 'good', sentence: `Your endpoint took the test event. ${attemptResult(last)}.` }
  if (last) {
    const sentences = ['Your endpoint did not take the test event.', `${attemptResult(last)}.`, remedyOf(last)]
    return { tone: 'bad', sentence: sentences.filter(Boolean).join(' ') }
  }
  if (event.status === 'held')
    return { tone: 'warning', sentence: 'The test event is held until the endpoint is re-enabled.' }
  return null
}

export const SECRET_STATES: Readonly<
  Record<SigningSecret['state'], { name: string; tone: 'good' | 'info' | 'neutral'; meaning: string }>
> = {
  current: { name: 'current', tone: 'good', meaning: 'Signs both headers.' },
  next: { name: 'new', tone: 'info', meaning: 'Signs webhook-signature beside the current one, until it is promoted.' },
  old: { name: 'old', tone: 'neutral', meaning: 'Signs webhook-signature for one more day.' },
}

/** The body as the endpoint receives it, with line breaks for people. */
export const bodyText = ({ id, type, payload }: Pick<WebhookEvent, 'id' | 'type' | 'payload'>): string =>
  JSON.stringify({ id, type, payload }, null, 2)
