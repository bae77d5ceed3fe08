// What a verification leaves in the store. Personal data in it is sealed or indexed with a key; codes and tokens are nowhere.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { VerificationView } from '../../../machines/calls.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import type { OutboxEntry } from './effect-messages.ts'

export interface OtpDoc extends SavedOtp, RevisedDoc {
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
  outbox: OutboxEntry[]
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
export interface AttemptDoc extends RevisedDoc {
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

export const VERIFICATION_COLLECTIONS = {
  otps: collection<OtpDoc>({
    indexes: [
      { fields: { app_id: 1, mode: 1, recipient: 1, _id: -1 } },
      { fields: { app_id: 1, _id: -1 } },
      { fields: { reference: 1 }, unique: true, partial: { reference: { $exists: true } } },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } } },
      { fields: { partition: 1, outbox_at: 1 }, partial: { outbox_at: { $gt: 0 } } },
    ],
    purged: true,
  }),
  claims: collection<ClaimDoc>({
    indexes: [{ fields: { partition: 1, held_until: 1 }, partial: { held_until: { $gt: 0 } } }],
    purged: true,
  }),
  counters: collection<CounterDoc>({ indexes: [], purged: true }),
  attempts: collection<AttemptDoc>({
    indexes: [{ fields: { app_id: 1, provider: 1, reference: 1 }, partial: { reference: { $gt: '' } } }],
    purged: true,
  }),
  sandbox_messages: collection<SandboxMessageDoc>({
    indexes: [{ fields: { recipient: 1, _id: -1 } }, { fields: { company_id: 1, _id: -1 } }],
    purged: true,
  }),
}

export type VerificationStore = StoreOf<typeof VERIFICATION_COLLECTIONS>
