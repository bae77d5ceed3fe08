// What became of a verification, in words, and whether more may come. In: what the admin API knows of it. Out: sentences for people, and
// whether to ask again.
import type { Schemas } from '../../api/schema.ts'
import { EVENT_STATUSES } from '../api-keys/webhook-text.ts'

export interface Progress {
  verification: Schemas['VerificationHistory']
  messages: Schemas['SandboxMessage'][]
  events: Schemas['WebhookEvent'][]
}

/** How long the last receipts and events of a finished verification are waited for. */
const LAST_NEWS_MS = 60_000

const FINAL_EVENTS: Readonly<Record<string, string>> = { approved: 'otp.approved', failed: 'otp.failed' }

/** Whether the verification, its messages or its events may still change soon. `endedAt`: when the page saw that it had ended. */
export function mayChange({ verification, events }: Progress, endedAt: number | null, now: number): boolean {
  if (verification.status === 'pending') return true
  if (endedAt !== null && now - endedAt > LAST_NEWS_MS) return false
  const finalEvent = FINAL_EVENTS[verification.status]
  if (finalEvent !== undefined && !events.some(({ type }) => type === finalEvent)) return true
  const underWay = verification.deliveries.some(({ status }) => status === 'queued' || status === 'sent')
  return underWay || events.some(({ status }) => status === 'pending')
}

/** What a wrong code means. */
export const attemptsLeft = (left: number): string => {
  if (left === 0) return 'No attempts are left.'
  return left === 1 ? '1 attempt is left.' : `${left} attempts are left.`
}

/** What became of a webhook event. */
export function eventDelivery({ status, attempts }: Pick<Schemas['WebhookEvent'], 'status' | 'attempts'>): string {
  const last = attempts.at(-1)
  const answered = last && (last.status === null ? `got no answer (${last.error})` : `was answered ${last.status}`)
  if (status === 'unsent') return EVENT_STATUSES.unsent.meaning
  if (status === 'held') return 'Held until the endpoint is re-enabled.'
  if (status === 'delivered') return last ? `Your endpoint answered ${last.status} in ${last.ms} ms.` : 'Delivered.'
  if (status === 'failed') return `Given up: the last attempt ${answered ?? 'failed'}.`
  return answered ? `Attempt ${last.attempt} ${answered}. It is tried again.` : 'On its way.'
}

/** The text that a wa.me link puts into the user's chat. */
export const textInLink = (url: string): string => new URL(url).searchParams.get('text') ?? ''
