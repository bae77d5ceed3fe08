// Erasure, export and the rotation of data keys as the admin API answers them.
import { z } from 'zod'
import { SECOND_MS } from '../../../infra/time.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { keyMode, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { decision } from '../fraud.schemas.ts'
import { recipientRule } from '../recipient-rules.ts'
import { refusalRecord } from '../refusals.schemas.ts'
import { exampleVerification } from '../verifications/operator-view.ts'
import { verificationHistory } from '../verifications/schemas.ts'
import { event } from '../webhook/schemas.ts'

const count = (description: string) => z.int().min(0).meta({ description })

export const erasure = z
  .object({
    verifications: count('Verifications that were erased.'),
    ended: count('Those of them that were pending.'),
    attempts: count('Provider calls.'),
    messages: count('Messages in the sandbox.'),
    events: count('Webhook events whose answers were erased.'),
    counters: count('Counters of limits, and the number’s history in the fraud guard.'),
    refusals: count('Refused sends and resends.'),
    decisions: count('Decisions of the fraud guard.'),
    idempotency_keys: count('Idempotency keys.'),
    blocks: count('Blocks of numbers of the fraud guard.'),
    rules: count('Rules that named the recipient, who asked for no more messages. They hold on without the name.'),
  })
  .meta({ id: 'Erasure', description: 'How many documents of each kind were erased.' })

const indexText = z
  .string()
  .regex(/^[\w-]{20,100}$/, 'must be an index of the journal')
  .meta({ description: 'A keyed index of the recipient.' })

/** A line of the journal, with its time in epoch milliseconds. `now`: of the request. */
export const journalLine = (now: number) =>
  z.strictObject({
    app_id: z.string().min(1).max(128),
    index: indexText,
    at: z.iso
      .datetime({ offset: true, error: 'must be a time, such as "2030-01-31T12:00:00Z"' })
      .transform(text => Date.parse(text))
      .refine(
        at => at <= now + CLOCK_TOLERANCE_MS,
        'must not be in the future: what is made until then would be erased',
      ),
  })

/** Clocks of processes may differ so much. */
const CLOCK_TOLERANCE_MS = 10 * SECOND_MS

export const journal = z.string().meta({
  id: 'ErasureJournal',
  description:
    'NDJSON: on each line `{"app_id": …, "index": …, "at": …}`, in the order of time. `index` is a keyed index of the recipient who was erased from the app. An erasure has some lines, one for each index under which the recipient is looked up.',
})

export const EXAMPLE_JOURNAL =
  '{"app_id":"app_01k2m8x4e9s7v3hqz5tnw6yb0c","index":"pDl2v0yHk4mW8s1cQe7uZx3bNfRtGa9oJi5hKd6Lw0E","at":"2030-01-01T12:00:00.000Z"}\n'

export const replay = z
  .object({
    entries: count('Entries in the file.'),
    replayed: count('Those that were replayed.'),
    next_line: z
      .int()
      .nullable()
      .meta({ description: 'Null when all were. Otherwise repeat the call with the lines from this one on.' }),
    erased: erasure,
  })
  .meta({ id: 'ErasureReplay', description: 'What was erased again.' })

const rotationState = z.enum(['waiting', 'running', 'done']).meta({
  id: 'RotationState',
  description: 'When it is `done`, all keys but the current one can be removed.',
})

const rotation = z
  .object({
    state: rotationState,
    current: z.string().optional().meta({ description: 'The id of the current data key.' }),
    pass: z.int().optional().meta({ description: 'Passes go through all documents until one finds nothing.' }),
    looked: z.int().optional().meta({ description: 'Documents of this pass.' }),
    renewed: z.int().optional().meta({ description: 'Those of them that were sealed anew.' }),
    unsealable: z.int().optional().meta({ description: 'Those whose key is missing.' }),
    renewed_in_all: z.int().optional().meta({ description: 'Documents of all passes that were sealed anew.' }),
    started_at: timeSchema('When the rotation began.').optional(),
    pass_started_at: timeSchema('When this pass began.').optional(),
    done_at: timeSchema('When it was done.').nullable().optional(),
  })
  .meta({ id: 'KeyRotation', description: 'The progress of a rotation. A waiting one has only its state.' })

export const privacy = z
  .object({
    data_keys: z.array(z.string()).meta({ description: 'The ids of DATA_KEYS, the current one first.' }),
    rotation: rotation.nullable().meta({ description: 'Null when there is nothing to rotate.' }),
  })
  .meta({ id: 'PrivacyState', description: 'The data keys and their rotation.' })

const exportedVerification = verificationHistory
  .extend({
    recipient: opened('The number or address.'),
    number_kind: z.string().nullable().meta({
      description: 'Of a number that is no mobile, as the numbering plans know it; null otherwise.',
    }),
    client_ip: opened('The client address; null where none came too.'),
    whatsapp_user_ids: z.array(z.string()).meta({
      description: 'Ids of WhatsApp users who hid their number and wrote to it.',
    }),
    circumstances: z.record(z.string(), z.unknown()).meta({
      description: 'What was unusual of the send, such as an address of a VPN (`suspect`); often nothing.',
    }),
    idempotency_keys: z
      .array(
        z
          .object({
            key: z.string().meta({ description: 'As the caller gave it.' }),
            first_used_at: timeSchema('Null where that was not stored.').nullable(),
          })
          .meta({ id: 'ExportedIdempotencyKey', description: 'The idempotency key of a send.' }),
      )
      .meta({ description: 'While they are remembered.' }),
    events: z
      .array(
        event
          .extend({
            request_id: z
              .string()
              .nullable()
              .meta({ description: 'Of the request that caused it; null where none did.' }),
          })
          .meta({ id: 'ExportedEvent', description: 'A webhook event, with every call of the endpoint.' }),
      )
      .meta({ description: 'Its webhook events, oldest first.' }),
  })
  .meta({ id: 'ExportedVerification', description: 'A verification or a message, unmasked, with its history.' })

const exportedRefusal = refusalRecord
  .extend({
    mode: keyMode,
    recipient: opened('The number or address; null where only a keyed index of it is kept too.'),
    client_ip: opened('The client address; null where it is not kept too.'),
    otp_id: z.string().optional().meta({ description: 'Of a resend: the verification.' }),
  })
  .meta({ id: 'ExportedRefusal', description: 'A send that was refused, unmasked.' })

const exportedSandboxMessage = z
  .object({
    delivery_id: z.string().meta({ description: 'The message.' }),
    otp_id: z.string().meta({ description: 'Its verification.' }),
    generation: z.int().meta({ description: 'The generation of the code in it.' }),
    locale: z.string().meta({ description: 'The language of its text.' }),
    at: timeSchema('When it arrived.'),
  })
  .meta({ id: 'ExportedSandboxMessage', description: 'A message in the sandbox. Its text is not stored.' })

const exportedCounter = z
  .object({
    mode: keyMode,
    counts: z.string().meta({ description: 'What it counts, such as `sends:server`.' }),
    windows: z.record(z.string(), z.int()).meta({ description: 'How many, by window: `s600` is of 600 seconds.' }),
    locked_until: timeSchema('When a lock ends; null without one.').nullable(),
    last_at: timeSchema('When it last counted, where that is kept.').nullable(),
  })
  .meta({ id: 'ExportedCounter', description: 'A counter of the limits by recipient.' })

const exportedHistory = z
  .object({
    mode: keyMode,
    messages: z.array(timeSchema('A message of the last hour that was not verified.')).meta({
      description: 'When messages were sent.',
    }),
    starts: z.array(timeSchema('A verification of the last day that was not approved.')).meta({
      description: 'When verifications began.',
    }),
    approved_at: timeSchema('When one was last approved; null if none was.').nullable(),
  })
  .meta({ id: 'ExportedFraudHistory', description: 'When devices sent to the recipient.' })

const exportedBlockEntry = z
  .object({
    mode: keyMode,
    last_message_at: timeSchema('When a message was last sent to the number.'),
    verified: z.boolean().meta({ description: 'Whether it was verified.' }),
  })
  .meta({ id: 'ExportedFraudBlock', description: 'The number among its neighbours, for the fraud guard.' })

const exportedErasure = z
  .object({ at: timeSchema('When it began.') })
  .meta({ id: 'ExportedErasure', description: 'That the recipient was erased before.' })

const exportedRule = recipientRule
  .extend({
    recipient: opened('The recipient; null once the person was erased.'),
    holds: z.boolean().meta({ description: 'False once the person asked for messages again.' }),
  })
  .meta({ id: 'ExportedRecipientRule', description: 'That the recipient asked for no more messages.' })

export const personExport = z
  .object({
    app_id: z.string().meta({ description: 'The app.' }),
    recipient: z.string().meta({ description: 'The recipient.' }),
    exported_at: timeSchema('When the export began.'),
    verifications: z.array(exportedVerification).meta({ description: 'Verifications and messages, oldest first.' }),
    sandbox_messages: z.array(exportedSandboxMessage).meta({ description: 'Messages in the sandbox.' }),
    refusals: z.array(exportedRefusal).meta({ description: 'Sends that were refused.' }),
    counters: z.array(exportedCounter).meta({ description: 'Counters of limits.' }),
    fraud_decisions: z.array(decision).meta({ description: 'Decisions of the fraud guard.' }),
    fraud_histories: z.array(exportedHistory).meta({ description: 'What the fraud guard knows of the recipient.' }),
    fraud_blocks: z.array(exportedBlockEntry).meta({ description: 'Its place among neighbouring numbers.' }),
    erasures: z.array(exportedErasure).meta({ description: 'Earlier erasures, of the journal.' }),
    recipient_rules: z.array(exportedRule).meta({ description: 'Whether the recipient said STOP.' }),
  })
  .meta({ id: 'PersonExport', description: 'All that an app keeps about a recipient, in both modes.' })

/** Null, too, where the data key is not configured now. */
function opened(description: string) {
  return z.string().nullable().meta({ description })
}

export type PersonExportAnswer = z.output<typeof personExport>

const AT = '2030-01-01T12:00:00.000Z'

export const examplePersonExport: PersonExportAnswer = {
  app_id: exampleVerification.app_id,
  recipient: SAMPLE_NUMBER,
  exported_at: '2030-01-02T12:00:00.000Z',
  verifications: [
    {
      ...exampleVerification,
      recipient: SAMPLE_NUMBER,
      number_kind: null,
      client_ip: '81.2.69.142',
      whatsapp_user_ids: [],
      circumstances: {},
      idempotency_keys: [{ key: 'sign up 1042', first_used_at: AT }],
      timeline: [{ at: AT, happened: 'otp.started', by: exampleVerification.started_by }],
      events: [],
    },
  ],
  sandbox_messages: [],
  refusals: [],
  counters: [{ mode: 'live', counts: 'sends:server', windows: { s600: 1 }, locked_until: null, last_at: AT }],
  fraud_decisions: [],
  fraud_histories: [],
  fraud_blocks: [],
  erasures: [],
  recipient_rules: [],
}
export type ErasureAnswer = z.output<typeof erasure>
export type ReplayAnswer = z.output<typeof replay>
export type RotationAnswer = z.output<typeof rotation>
