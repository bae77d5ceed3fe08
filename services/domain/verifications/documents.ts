// What a verification leaves in the store. Personal data in it is sealed or indexed with a key; codes and tokens are nowhere.

import type { WorkQueue } from '../../../infra/broker/topology.ts'
import type { Doc, Revised } from '../../../infra/store/docs.ts'
import type { VerificationView } from '../../../machines/calls.ts'
import type { Mode, WebhookEvent } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'

/** An effect on its way out: saved with the change that caused it, removed once the broker has it. */
export interface Outgoing {
  id: string
  queue: WorkQueue
  body: unknown
  /** When it was saved: the sweeper publishes again what has stayed too long. */
  at: number
}

/** To a channel queue. The consumer reads the verification itself: nothing secret travels. */
export interface DeliverBody {
  otp_id: string
  delivery_id: string
  generation: number
  /** Whose it is, of a live message: one whose providers are all busy goes back to the queue without being looked up. */
  live?: { company_id: string; app_id: string }
}

/** To the WhatsApp queue: the user's own message has approved, and a word of thanks is due. Nothing depends on it. */
export interface ThankBody {
  otp_id: string
  approved: true
}

/** To the webhook queue. */
export interface NotifyBody {
  event_id: string
  app_id: string
  company_id: string
  mode: Mode
  type: WebhookEvent
  payload: Record<string, string>
  at: number
}

export interface OtpDoc extends SavedOtp, Revised {
  company_id: string
  app_id: string
  mode: Mode
  recipient: string
  /** Finds the verification a user's WhatsApp message speaks of; absent without a link. */
  reference?: string
  created_at: number
  /** Sweepers share the work by it. */
  partition: number
  /** When time changes its state; absent once it is final. */
  due_at?: number
  outbox: Outgoing[]
  /** When the outbox last got something; null while it is empty. */
  outbox_at: number | null
  /** Its idempotency key's document, where it has one: they go together. */
  claim?: string
  /** The answer to its send, for whoever repeats the call with the same idempotency key. */
  first: VerificationView
  purge_at: Date
}

/** An idempotency key in use. It is bound once its verification exists. */
export interface ClaimDoc extends Doc {
  otp_id: string
  partition: number
  /** Past it, whoever held the claim is taken for dead; absent once the sweeper has seen its verification. */
  held_until?: number
  expires_at: number
  purge_at: Date
}

/** One rule's window: `bucket` is its number since the epoch, `count` what fell into it, `before` what fell into the one before. */
export interface Window {
  bucket: number
  count: number
  before: number
}

/** What an update granted, for the process that made it to read. */
export interface Grant {
  by: string
  call: number
  granted: number
}

/** The sliding windows of one thing that is counted, by `s<seconds>`. */
export interface CounterDoc extends Doc {
  windows: Record<string, Window>
  /** How many the latest call was granted. */
  granted: number
  /** The latest of each process. */
  grants?: Grant[]
  locked_until?: number
  purge_at: Date
}

/** `refused` is the recipient's fault, `failed` the provider's; `unknown`: it may have gone. */
export type AttemptResult = 'accepted' | 'refused' | 'failed' | 'unknown'

/** One call of one provider for one delivery, claimed before the call: found without a result, its outcome is unknown. One of no
 *  provider (its name is empty) is the end of a round in which nobody took the message. */
export interface AttemptDoc extends Revised {
  otp_id: string
  /** Whose provider it is: a callback of one app never finds another's. */
  app_id: string
  delivery_id: string
  provider: string
  /** Providers are asked in rounds; each is asked once in a round. */
  round: number
  at: number
  result: AttemptResult | null
  /** The vendor's own name for the message; null until, and unless, it gave one. */
  reference: string | null
  purge_at: Date
}

/** What a test key sent. It refers to the verification; code and text are rendered when it is read. */
export interface SandboxMessageDoc extends Doc {
  app_id: string
  company_id: string
  otp_id: string
  generation: number
  /** The language it was written in. */
  locale: string
  /** Keyed index over all apps, for the inbox's search. */
  recipient: string
  at: number
  purge_at: Date
}

/** `unsent`: its app had no endpoint. `pending`: waits for its next attempt, or is under way. `held`: kept while its endpoint is
 *  paused. `failed`: used up its attempts; enabling the endpoint starts them afresh. */
export type EventStatus = 'unsent' | 'pending' | 'held' | 'delivered' | 'failed'

/** One call of the endpoint for one event. */
export interface EventAttempt {
  round: number
  /** 1 is the first of its round. */
  attempt: number
  at: number
  /** Null when nobody saw it end. */
  ms: number | null
  /** The HTTP status; null without an answer. */
  status: number | null
  /** What went wrong where there was no answer: `timeout`, `unreachable`, `forbidden`, `lost`, `unknown`. */
  error: string | null
  /** The beginning of the answer's body, 2 KB at most. */
  response: string | null
}

/** `overflow`: its endpoint had as many calls under way as it may. `kept`: its endpoint was paused, or it is to be sent again. */
export type Backlog = 'overflow' | 'kept'

/** A webhook event as it happened, and what became of it. Events recorded before they were delivered lack what is optional here:
 *  read them through `eventState` of services/domain/webhooks/events.ts. */
export interface EventDoc extends Revised {
  app_id: string
  company_id: string
  mode: Mode
  type: WebhookEvent | 'webhook.test'
  payload: Record<string, string>
  created_at: number
  purge_at: Date
  status?: EventStatus
  /** Sweepers share the work by it. */
  partition?: number
  /** Replaying and enabling start attempts afresh: a round each. */
  round?: number
  /** Attempts begun in this round. */
  tries?: number
  /** The latest, oldest first. */
  attempts?: EventAttempt[]
  /** Whom it was about is erased: what its endpoint answers is not kept. */
  hushed?: true
  /** Since when a call is under way. Found past its time, nobody knows how it ended. */
  claimed_at?: number
  /** When it is to be tried again; absent when nothing is to come. */
  next_attempt_at?: number
  /** When the sweeper should look after it: its message may have been lost. */
  due_at?: number
  /** Present while it waits for its endpoint, oldest first: its `created_at`. */
  backlog_at?: number
  backlog?: Backlog
}

/** Who changed what. Secrets are fingerprints here. */
export interface AuditDoc extends Doc {
  at: number
  who: string
  company_id: string | null
  action: string
  target: string
  before: unknown
  after: unknown
  /** Written as `begun` before the change, so that nothing changes unrecorded. One that stays so was cut off: it may have happened. */
  outcome: 'begun' | 'done' | 'undone'
}

/** A share of the sweepers' work, held by one of them for a while. */
export interface LeaseDoc extends Doc {
  holder: string
  until: number
}
