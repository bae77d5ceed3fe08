// What is stored of verifications, and of messages, which are documents of the same kind. Personal data is sealed or a
// keyed index. Codes and tokens are not stored; the code of a message, which its caller made, is sealed until the
// message has ended.
import { SWEPT } from '../../../infra/partitions.ts'
import type { Doc, Docs, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, idsUnder, type StoreOf } from '../../../infra/store/store.ts'
import type { VerificationView } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { Mode, RouteReason } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import type { Windows } from '../../../machines/windows.ts'
import type { OutboxEntry } from './queue-messages.ts'

export interface OtpDoc extends SavedOtp, RevisedDoc {
  company_id: string
  app_id: string
  mode: Mode
  /** The recipient's keyed index, as in `context.recipient.index`. It differs in every app and mode, so a query needs to name neither. */
  recipient: string
  /** Keyed index of the reference in the WhatsApp link, by which a user's message is matched; absent without a link. */
  reference?: string
  created_at: number
  /** Sweepers divide the work by partition. */
  partition: number
  /** When the sweeper reminds the OTP actor that this verification has expired; absent once the state is final. */
  due_at?: number
  outbox: OutboxEntry[]
  /** When an effect was last added to the outbox, or the sweeper last published what is in it; null while it is empty. */
  outbox_at: number | null
  /** Since when its queued delivery could be worked on; in the future while the channel waits for a receipt or the next round. Absent when
   *  none is queued. */
  owed_at?: number
  /** The channel of that delivery. */
  owed_channel?: Channel
  /** When the sweeper looks whether its webhook events are stored; absent while the webhook actor had to be told of none. It stays when
   *  they are: the sweeper remembers how far it has looked (`EventLookDoc`), so that no write has to remove it. */
  events_at?: number
  /** The ids of its idempotency key's documents, one for each data key, which are erased with it; absent when the send had no such key. */
  claims?: string[]
  /** The request id of the send, as in the log. */
  request_id?: string
  /** What the caller's backend gave with the send, sealed; absent when it gave nothing. */
  metadata?: string
  /** The answer to its send, for repeated calls with the same idempotency key. */
  first: VerificationView
  purge_at: Date
}

/** The id of a send that joined a pending verification, whose document lists it too. */
export interface JoinedIdDoc extends Doc {
  /** The first id of that verification. */
  otp_id: string
  purge_at: Date
}

/** A verification is found by one value of its metadata through this. Its `_id` begins with the verification's. */
export interface MetadataIndexDoc extends Doc {
  /** Keyed index of name and value. It differs in every app and mode. */
  index: string
  purge_at: Date
}

/** How far the sweeper has looked for events that are not stored: one document. */
export interface EventLookDoc extends Doc {
  /** The `events_at` of the latest verification it has looked at. */
  until: number
}

export const EVENT_LOOK_ID = 'events'

/** An idempotency key in use, and the verification that its first call creates. Its `_id` is the key's index under one data key. While
 *  there are several data keys, there is a document for each. */
export interface ClaimDoc extends Doc {
  otp_id: string
  /** Until then the first call may still be creating the verification. */
  held_until: number
  /** When the key was first used. A call that takes the claim over leaves it. */
  claimed_at: number
  /** The idempotency key itself, by which the key is indexed again when data keys rotate. Absent in the claim of a message's content, which
   *  lives for minutes: it would be the code. */
  sealed_key?: string
  /** In the claim of a message's content: the indexes of the idempotency key that its call brought. */
  keys?: string[]
  /** Where its call joined a verification (`reuse_pending`): what that answered other than the send of the verification had. */
  answer?: ClaimedAnswer
  expires_at: number
  purge_at: Date
}

export type ClaimedAnswer = Pick<
  VerificationView,
  'otp_id' | 'first_id' | 'status' | 'channel' | 'sealed_action_url' | 'completion'
>

/** A challenge that was solved and used. Its `_id` is the digest of the salt. */
export interface SpentChallengeDoc extends Doc {
  /** The id of the call that used it, which may be delivered again. */
  command_id: string
  /** The call was delivered again, so neither delivery gives the challenge back. */
  delivered_again?: true
  purge_at: Date
}

/** The result of one update, by which the process that made the update learns how many were granted. */
export interface Grant {
  by: string
  call: number
  granted: number
  /** The counter's `last_at` before; null without one, absent where it was not asked for. */
  last_at?: number | null
}

/** A counter: its sliding windows, by `s<seconds>`; those of a recipient's messages by `messages_s<seconds>`. */
export interface CounterDoc extends Doc {
  windows: Windows
  /** How many the latest update granted. */
  granted: number
  /** The latest grant of each process. */
  grants?: Grant[]
  locked_until?: number
  /** When it was last counted, not counting what came within an hour of that; null when it was given back and there was none before. Kept
   *  in the counters of a recipient's sends alone, see `isRepeated` (../routes/contribution.ts). */
  last_at?: number | null
  /** Its `last_at` before the latest grant, to be given back with it. */
  last_at_before?: number | null
  purge_at: Date
}

/** `refused` is the recipient's fault, `failed` is the provider's. `unknown`: the message may have been sent. */
export type AttemptResult = 'accepted' | 'refused' | 'failed' | 'unknown'

/** The end of a round is stored as an attempt with this in place of a provider's name. */
export const END_OF_ROUND = ''

/** More than any app has providers, times the rounds of a delivery. */
const MAX_ATTEMPTS_READ = 10_000

export const findAttempts = (attempts: Pick<Docs<AttemptDoc>, 'find'>, delivery_id: string): Promise<AttemptDoc[]> =>
  attempts.find(idsUnder(delivery_id), { sort: { _id: 1 }, limit: MAX_ATTEMPTS_READ })

/** One call of one provider for one delivery. It is saved before the call: an attempt without a result has an unknown outcome. That of a
 *  `repeatable` provider is saved once, after the call. An attempt of `END_OF_ROUND` marks the end of a round in which no
 *  provider accepted the message. */
export interface AttemptDoc extends RevisedDoc, Partial<VendorDetails> {
  otp_id: string
  /** The app of the provider, so that a callback for one app never finds an attempt of another. */
  app_id: string
  delivery_id: string
  channel: Channel
  provider: string
  /** Providers are called in rounds. */
  round: number
  /** Which call of this provider it is in its round; absent for the first. A provider is called again in a round only after an unknown
   *  outcome, when no other provider is left. */
  call?: number
  /** The process and the try that made the attempt; absent where it was saved after its call. */
  maker?: AttemptMaker
  at: number
  result: AttemptResult | null
  /** When the outcome became unknown; absent for other results. */
  unknown_at?: number
  /** By the vendor's word, the recipient asked for no more messages. */
  unsubscribed?: true
  /** The vendor's id of the message; null when the vendor has not given one. */
  reference: string | null
  /** Why its provider was the first that was called for the delivery; absent where the list, or the attempts before it, say it. */
  because?: RouteReason
  /** Where spans are recorded: the trace of the message, for its receipts. */
  trace?: { traceparent: string; traced_at: number }
  purge_at: Date
}

/** What is known of a call beside its result; absent in attempts without a result. */
export interface VendorDetails {
  /** How long the call took. */
  ms: number
  /** Absent where there was no answer over HTTP. */
  http_status?: number
  /** The vendor's error code and text, without personal data; absent where the vendor gave none. */
  vendor_code?: string
  vendor_text?: string
}

/** A process that finds its own attempt in the store knows whether it has made the call. */
export interface AttemptMaker {
  /** Random, made anew at every start. */
  process: string
  /** Counts the attempts of that process. */
  try: number
}

/** A message in the sandbox. It refers to its verification: code and text are rendered when the inbox is read. */
export interface SandboxMessageDoc extends Doc {
  app_id: string
  company_id: string
  otp_id: string
  generation: number
  /** The language of its text. */
  locale: string
  /** The code of a delivery whose code its caller made, which cannot be derived. */
  sealed_code?: string
  /** Keyed index in one scope for all apps, because the inbox is searched over all apps. */
  recipient: string
  at: number
  purge_at: Date
}

export const VERIFICATION_COLLECTIONS = {
  otps: collection<OtpDoc>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [
      {
        // The kind comes last, so that the newest of one kind is found by the index alone.
        fields: { recipient: 1, _id: -1, 'context.started_by.kind': 1 },
        scatter: {
          asker: 'calls',
          why: "calls of Twilio's API that name a number; sends of an app with `reuse_pending`, or without limits by recipient; searches and erasures",
        },
      },
      {
        fields: { app_id: 1, _id: -1 },
        scatter: {
          asker: 'people',
          why: 'lists; settings that are tried; the sweep of retention, once a minute per app',
        },
      },
      {
        // Not unique: a reference has 80 random bits, and a unique index would have to begin with the shard key.
        fields: { reference: 1 },
        partial: { reference: { $exists: true } },
        scatter: { asker: 'calls', why: 'a message that a user sends on WhatsApp, once or twice' },
      },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } }, scatter: SWEPT },
      { fields: { partition: 1, outbox_at: 1 }, partial: { outbox_at: { $gt: 0 } }, scatter: SWEPT },
      {
        fields: { owed_channel: 1, owed_at: 1 },
        partial: { owed_at: { $gt: 0 } },
        scatter: {
          asker: 'sweeper',
          why: 'what waits, and what is lost; a channel whose providers are all busy, once a second',
        },
      },
      { fields: { events_at: 1 }, partial: { events_at: { $gt: 0 } }, scatter: SWEPT },
    ],
    purged: true,
    sharding: {
      key: { _id: 'hashed' },
      byId: { asker: 'sweeper', why: 'each hour is counted again, by pages of 200; data keys rotate' },
    },
    keepLatest: true,
  }),
  metadata_indexes: collection<MetadataIndexDoc>({
    belongsTo: [{ to: 'otps', erasedWithOwner: true }],
    indexes: [
      { fields: { index: 1, _id: -1 }, scatter: { asker: 'people', why: 'searches by a value of the metadata' } },
    ],
    purged: true,
    sharding: { key: { _id: 'hashed' }, byId: { asker: 'people', why: 'erasures; data keys rotate' } },
  }),
  joined_ids: collection<JoinedIdDoc>({
    belongsTo: [{ to: 'otps', erasedWithOwner: true }],
    indexes: [],
    purged: true,
    sharding: { key: { _id: 'hashed' } },
  }),
  event_looks: collection<EventLookDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
  claims: collection<ClaimDoc>({
    belongsTo: [{ to: 'otps', erasedWithOwner: true }],
    indexes: [],
    purged: true,
    sharding: { key: { _id: 'hashed' }, byId: { asker: 'sweeper', why: 'data keys rotate' } },
  }),
  spent_challenges: collection<SpentChallengeDoc>({
    belongsTo: [{ to: null, why: 'the id is a digest that names no owner; gone within the hour' }],
    indexes: [],
    purged: true,
    sharding: { key: { _id: 'hashed' } },
  }),
  counters: collection<CounterDoc>({
    belongsTo: [{ to: 'apps', ofOwner: idsUnder }],
    indexes: [],
    purged: true,
    sharding: { key: { _id: 'hashed' }, byId: { asker: 'sweeper', why: 'apps that are deleted' } },
  }),
  attempts: collection<AttemptDoc>({
    belongsTo: [{ to: 'otps', erasedWithOwner: true }],
    indexes: [
      {
        fields: { app_id: 1, provider: 1, reference: 1 },
        partial: { reference: { $gt: '' } },
        scatter: { asker: 'calls', why: "receipts that bring the vendor's id of the message alone" },
      },
    ],
    purged: true,
    sharding: {
      key: { _id: 'hashed' },
      byId: { asker: 'calls', why: 'deliveries that are tried again; receipts of failures; timelines and erasures' },
    },
  }),
  sandbox_messages: collection<SandboxMessageDoc>({
    belongsTo: [{ to: 'otps', erasedWithOwner: true }],
    indexes: [
      { fields: { recipient: 1, _id: -1 }, scatter: { asker: 'people', why: "the sandbox's inbox; erasures" } },
      { fields: { company_id: 1, _id: -1 }, scatter: { asker: 'people', why: "the sandbox's inbox" } },
    ],
    purged: true,
    sharding: { key: { _id: 'hashed' } },
  }),
}

export type VerificationStore = StoreOf<typeof VERIFICATION_COLLECTIONS>
