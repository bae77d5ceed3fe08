// The sandbox: what it has received in place of vendors, and messages that a user would send.

import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { optOutIn } from '../../../machines/opt-out.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { referenceIndexes } from '../../domain/verifications/lookup-indexes.ts'
import type { OtpReport } from '../../domain/verifications/queue-messages.ts'
import { referencesIn } from '../../domain/verifications/whatsapp-references.ts'
import { mayAccessCompany, principalOf } from '../access.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { firstThatFit } from '../pages.ts'
import { recipientQuery, recordLookup } from '../recipients.ts'
import { validationProblem } from '../request-input.ts'
import { readInbox } from './inbox.ts'
import { accepted, sandboxMessages } from './schemas.ts'

/** With or without the plus: a WhatsApp id is a number without it. */
const waNumber = z.string().regex(/^\+?[1-9]\d{6,14}$/, `must be a phone number, such as "${SAMPLE_NUMBER}"`)

const MAX_MESSAGES = 100
/** A screen that waits for a message reads the inbox every second, and one record is enough for that. */
const RECORDED_FOR_MS = 10 * MINUTE_MS
const MAX_RECORDED = 10_000

export const sandboxOperations = [
  operation({
    id: 'listSandboxMessages',
    request: 'GET /sandbox/messages',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: 'Read the sandbox inbox',
    description: `The latest ${MAX_MESSAGES} messages of test keys, newest first; fewer where they are more than 1 MiB.`,
    query: z.strictObject({ recipient: recipientQuery }),
    answers: [
      ok(sandboxMessages, 'The messages.', [
        {
          otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
          delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
          channel: 'sms',
          recipient: SAMPLE_NUMBER,
          text: '123456 is your Shop verification code.',
          code: '123456',
          at: '2030-01-01T12:00:00.000Z',
        },
      ]),
    ],
    keep: () => createBoundedMap<number>(MAX_RECORDED),
    handle: async ({ ctx, query: { recipient } }, admin, recordedAt) => {
      const { name, company_id } = principalOf(ctx)
      const now = admin.clock.now()
      const key = JSON.stringify([name, company_id, recipient])
      if (now - (recordedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= RECORDED_FOR_MS) {
        await recordLookup(ctx, admin, { recipient, app: null, list: 'sandbox' })
        recordedAt.set(key, now)
      }
      const messages = await readInbox(admin, {
        limit: MAX_MESSAGES,
        ...(recipient === undefined ? {} : { recipient }),
        ...(company_id === null ? {} : { company_id }),
      })
      return firstThatFit(messages.map(({ at, ...message }) => ({ ...message, at: isoTime(at) })))
    },
  }),
  operation({
    id: 'playSandboxMessage',
    request: 'POST /sandbox/inbound',
    role: 'developer',
    summary: 'Play a WhatsApp message',
    description:
      'Simulates a message from a user, so that link modes can be finished in test mode. A user who hides their number writes with `from_user_id` in place of `from`, and answers the request for it with `contact` in place of `text`.',
    body: {
      schema: z
        .strictObject({
          app_id: z.string(),
          from: waNumber.optional().meta({ description: 'The number of the user; absent where WhatsApp hides it.' }),
          from_user_id: z
            .string()
            .regex(/^[A-Z]{2}\.[A-Za-z0-9.]{1,140}$/, 'must be an id of WhatsApp, such as "US.13491208655302741918"')
            .optional()
            .meta({ description: 'The id of a user who hides their number.' }),
          text: z.string().optional().meta({ description: 'What the user writes.' }),
          contact: waNumber.optional().meta({ description: 'The own number that the user shares when asked for it.' }),
        })
        .superRefine(({ from, from_user_id, text, contact }, { addIssue }) => {
          const say = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message })
          if ((from === undefined) === (from_user_id === undefined))
            say('from', 'or from_user_id is needed, and not both')
          if ((text === undefined) === (contact === undefined)) say('text', 'or contact is needed, and not both')
          else if (contact !== undefined && from_user_id === undefined) say('contact', 'needs from_user_id')
        })
        .meta({ id: 'SandboxInboundRequest', description: "A user's WhatsApp message." }),
      example: { app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c', from: SAMPLE_NUMBER, text: 'K7Q2M9XD4RBT3WHN' },
    },
    answers: [ok(accepted, 'It was taken.', { accepted: true })],
    handle: async (
      { ctx, body: { app_id, from = '', from_user_id, text = '', contact } },
      { store, broker, keyring, clock, withAudit },
    ) => {
      const app = await getOne(store.docs('apps'), app_id)
      if (!app || !mayAccessCompany(ctx, app.company_id))
        throw validationProblem([{ path: 'app_id', message: 'is not the id of an app' }])
      // A simulated message must not approve a live verification, even if its text holds a live reference.
      const played = {
        app_id,
        mode: 'test' as const,
        at: clock.now(),
        sealed_from: keyring.seal(contact ?? from, inFlight.from),
      }
      const asked = contact === undefined && from !== '' ? optOutIn(text) : null
      const optOut: OtpReport | null = asked && {
        type: 'opt_out.received',
        ...played,
        channel: 'whatsapp',
        provider: null,
        asked,
      }
      const report: OtpReport =
        optOut ??
        (contact !== undefined && from_user_id !== undefined
          ? { type: 'contact.received', ...played, sealed_user_id: keyring.seal(from_user_id, inFlight.userId) }
          : {
              type: 'message.received',
              ...played,
              ...(from_user_id !== undefined && { sealed_user_id: keyring.seal(from_user_id, inFlight.userId) }),
              references: referencesIn(text).flatMap(reference => referenceIndexes(keyring, reference)),
            })
      return withAudit(ctx, () => ({
        action: 'sandbox.play_message',
        target: app_id,
        company_id: app.company_id,
        before: null,
        after: null,
        perform: async () => {
          await broker.publish('otp.reports', { id: `sandbox:${randomUUID()}`, body: report, trace: traceOf(ctx) })
          return { accepted: true }
        },
      }))
    },
  }),
]
