// Verifications as an operator sees them: lists with filters, and each with its state and its timeline. The recipient is masked: an
// operator who searches for a recipient knows it already.
import type { Context } from 'koa'
import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import type { Delivery } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { statusView } from '../../../machines/otp.view.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { attemptsOf, type OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { ok, page, refusal } from '../answers.ts'
import { operation } from '../operation.ts'
import { type PageOptions, pageFields } from '../pages.ts'
import { recordLookup } from '../recipients.ts'
import { getOr404 } from '../request-input.ts'
import { refuseEmptyRange } from '../time-query.ts'
import { type VerificationAnswer, verificationHistory, verificationPage } from './schemas.ts'
import { createSearch, type Search, searchFields } from './search.ts'
import { createTimeline } from './timeline.ts'

const query = z.strictObject({ ...pageFields, ...searchFields }).check(refuseEmptyRange)
const queryOfAllApps = z
  .strictObject({
    ...pageFields,
    app_id: z.string().optional().meta({ description: 'Only those of this app.' }),
    ...searchFields,
  })
  .check(refuseEmptyRange)

const example: VerificationAnswer = {
  otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+44****56',
  completion: 'code',
  created_at: '2030-01-01T12:00:00.000Z',
  expires_at: '2030-01-01T12:10:00.000Z',
  verified_at: null,
  attempts_left: 5,
  resend_at: '2030-01-01T12:00:30.000Z',
  deliveries: [
    {
      delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
      channel: 'sms',
      generation: 1,
      status: 'failed',
      created_at: '2030-01-01T12:00:00.000Z',
      updated_at: '2030-01-01T12:00:02.310Z',
      micros: 40_000,
      provider: 'main-sms',
      reason: 'recipient_unreachable',
    },
  ],
  action_url: null,
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  mode: 'live',
  started_by: { key_id: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c', kind: 'server' },
  country: 'GB',
  locale: 'en',
  order: ['sms'],
  sends: 1,
  generation: 1,
  wrong_codes: 0,
  approved_by: null,
  exchange: null,
}

export const verificationOperations = [
  operation({
    id: 'searchVerifications',
    route: 'GET /verifications',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: 'Search verifications',
    description:
      'Over all apps that the caller may see, both modes, newest first. The recipient is masked. A search for a recipient is in the audit log.',
    query: queryOfAllApps,
    answers: [page(verificationPage, 'A page of verifications.', example)],
    refusals: [refusal.notFound],
    handle: ({ ctx, query }, admin) => readSearch(ctx, query, admin),
  }),
  operation({
    id: 'listVerifications',
    route: 'GET /apps/{id}/verifications',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: "List an app's verifications",
    description: 'Both modes, newest first. The recipient is masked.',
    query,
    answers: [page(verificationPage, 'A page of verifications.', example)],
    handle: ({ ctx, app, query }, admin) => readSearch(ctx, { ...query, app_id: app._id }, admin),
  }),
  operation({
    id: 'getVerificationHistory',
    route: 'GET /verifications/{otp_id}',
    role: 'viewer',
    summary: "Look a verification's history up",
    description:
      'What happened, in order: messages, provider calls with what the vendor said, events and their attempts. The time of a cancel is not stored, so it has no entry.',
    answers: [
      ok(verificationHistory, 'The verification with its timeline.', {
        ...example,
        timeline: [
          { at: '2030-01-01T12:00:00.000Z', happened: 'otp.started', by: example.started_by },
          {
            at: '2030-01-01T12:00:00.420Z',
            happened: 'provider.called',
            delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
            provider: 'main-sms',
            round: 1,
            call: 1,
            result: 'refused',
            reference: null,
            http_status: 400,
            vendor_code: '21614',
            vendor_text: 'The number is not a mobile number',
            ms: 231,
          },
        ],
      }),
    ],
    handle: async ({ verification: doc }, { store, keyring, clock }) => {
      const now = clock.now()
      return { ...operatorView(keyring, doc, now), timeline: await loadTimeline(store, doc, now) }
    },
  }),
]

async function readSearch(
  ctx: Context,
  { limit, cursor, ...search }: Search & PageOptions,
  { store, keyring, clock, readFilteredPage, withAudit }: AdminDeps,
) {
  const { recipient, app_id } = search
  const app = app_id === undefined ? null : await getOr404(ctx, store.docs('apps'), app_id, 'app')
  await recordLookup(ctx, { keyring, withAudit }, { recipient, app, list: 'verifications', cursor })
  const listing = await createSearch({ store, keyring, clock })(ctx, search)
  const show = (doc: OtpDoc) => operatorView(keyring, doc, clock.now())
  return readFilteredPage(ctx, { ...listing, show }, { limit, cursor })
}

const MAX_TIMELINE_DOCS = 1_000

async function loadTimeline(store: CountersignStore, doc: OtpDoc, now: number) {
  const { value, context: otp } = toCurrentVersion(doc)
  const attempts = await Promise.all(
    otp.deliveries.map(({ delivery_id }) =>
      store.docs('attempts').find(attemptsOf(delivery_id), { sort: { _id: 1 }, limit: MAX_TIMELINE_DOCS }),
    ),
  )
  const eventFilter = { 'payload.otp_id': doc._id, app_id: doc.app_id }
  const events = await store.docs('events').find(eventFilter, { sort: { _id: 1 }, limit: MAX_TIMELINE_DOCS })
  return createTimeline({ otp, status: statusAt(value, otp, now), attempts: attempts.flat(), events })
}

function operatorView(keyring: Pick<Keyring, 'unseal'>, doc: OtpDoc, now: number): VerificationAnswer {
  const saved = toCurrentVersion(doc)
  const { context: otp } = saved
  const view = statusView(saved, now)
  const { sealed_action_url } = view
  return {
    otp_id: view.otp_id,
    status: view.status,
    channel: view.channel,
    masked_recipient: view.masked_recipient,
    completion: view.completion,
    // Null too when the data key of an old link is no longer configured.
    action_url: sealed_action_url === null ? null : unsealOrNull(keyring, sealed_action_url, atRest.link(otp.otp_id)),
    created_at: isoTime(view.created_at),
    expires_at: isoTime(view.expires_at),
    verified_at: isoTimeOrNull(view.verified_at),
    attempts_left: view.attempts_left,
    resend_at: isoTimeOrNull(view.resend_at),
    deliveries: view.deliveries.map(deliveryView),
    company_id: otp.company_id,
    app_id: otp.app_id,
    mode: otp.mode,
    started_by: otp.started_by,
    country: otp.recipient.country,
    locale: otp.locale,
    order: otp.order,
    sends: otp.sends,
    generation: otp.generation,
    wrong_codes: otp.wrong_codes,
    approved_by: otp.approval?.by ?? null,
    exchange: otp.exchange && { key_id: otp.exchange.key_id, at: isoTime(otp.exchange.at) },
  }
}

/** What the vendor said is in the timeline. */
const deliveryView = (delivery: Delivery): VerificationAnswer['deliveries'][number] => ({
  delivery_id: delivery.delivery_id,
  channel: delivery.channel,
  generation: delivery.generation,
  status: delivery.status,
  created_at: isoTime(delivery.created_at),
  updated_at: isoTime(delivery.updated_at),
  micros: delivery.micros,
  ...(delivery.provider === undefined ? {} : { provider: delivery.provider }),
  ...(delivery.reason === undefined ? {} : { reason: delivery.reason }),
})
