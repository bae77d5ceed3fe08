// Verifications as an operator sees them: lists with filters, and each with its state and its timeline. The recipient is masked: an
// operator who searches for a recipient knows it already.

import type { Context } from 'koa'
import { z } from 'zod'
import { idsUnder } from '../../../infra/store/store.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { ok, page, refusal } from '../answers.ts'
import { operation } from '../operation.ts'
import { type PageOptions, pageFields } from '../pages.ts'
import { recordLookup } from '../recipients.ts'
import { getOr404 } from '../request-input.ts'
import { refuseEmptyRange } from '../time-query.ts'
import { METADATA_PARAMETER, metadataFilterIn, queryWithMetadata } from './metadata-query.ts'
import { exampleVerification, operatorView } from './operator-view.ts'
import { verificationHistory, verificationPage } from './schemas.ts'
import { createSearch, type Search, searchFields } from './search.ts'
import { createTimeline } from './timeline.ts'

const query = queryWithMetadata({ ...pageFields, ...searchFields }).check(refuseEmptyRange)
const queryOfAllApps = queryWithMetadata({
  ...pageFields,
  app_id: z.string().optional().meta({ description: 'Only those of this app.' }),
  ...searchFields,
}).check(refuseEmptyRange)

export const verificationOperations = [
  operation({
    id: 'searchVerifications',
    request: 'GET /verifications',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: 'Search verifications',
    description:
      'Over all apps that the caller may see, both modes, newest first. The recipient is masked. A search for a recipient is in the audit log.',
    query: queryOfAllApps,
    parameters: [METADATA_PARAMETER],
    answers: [page(verificationPage, 'A page of verifications.', exampleVerification)],
    csv: 'verifications',
    refusals: [refusal.notFound],
    handle: ({ ctx, query }, admin) => readSearch(ctx, query, admin),
  }),
  operation({
    id: 'listVerifications',
    request: 'GET /apps/{id}/verifications',
    role: 'viewer',
    allowedWhenClosed: true,
    summary: "List an app's verifications",
    description: 'Both modes, newest first. The recipient is masked.',
    query,
    parameters: [METADATA_PARAMETER],
    answers: [page(verificationPage, 'A page of verifications.', exampleVerification)],
    csv: 'verifications',
    handle: ({ ctx, app, query }, admin) => readSearch(ctx, { ...query, app_id: app._id }, admin),
  }),
  operation({
    id: 'getVerificationHistory',
    request: 'GET /verifications/{otp_id}',
    role: 'viewer',
    summary: "Look a verification's history up",
    description:
      'What happened, in order: messages, provider calls with what the vendor said, events and their attempts. The time of a cancel is not stored, so it has no entry.',
    answers: [
      ok(verificationHistory, 'The verification with its timeline.', {
        ...exampleVerification,
        timeline: [
          { at: '2030-01-01T12:00:00.000Z', happened: 'otp.started', by: exampleVerification.started_by },
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
            because: 'The provider was the first in the list that could be used.',
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
  { limit, cursor, ...search }: Search & PageOptions & Record<string, unknown>,
  { store, keyring, clock, readFilteredPage, withAudit }: AdminDeps,
) {
  const { recipient, app_id } = search
  const app = app_id === undefined ? null : await getOr404(ctx, store.docs('apps'), app_id, 'app')
  const metadata = metadataFilterIn(search)
  await recordLookup(ctx, { keyring, withAudit }, { recipient, metadata, app, list: 'verifications', cursor })
  const listing = await createSearch({ store, keyring, clock })(ctx, { ...search, metadata })
  const show = (doc: OtpDoc) => operatorView(keyring, doc, clock.now())
  return readFilteredPage(ctx, { ...listing, show }, { limit, cursor })
}

const MAX_TIMELINE_DOCS = 1_000

async function loadTimeline(store: CountersignStore, doc: OtpDoc, now: number) {
  const { value, context: otp } = toCurrentVersion(doc)
  const attempts = await Promise.all(
    otp.deliveries.map(({ delivery_id }) =>
      store.docs('attempts').find(idsUnder(delivery_id), { sort: { _id: 1 }, limit: MAX_TIMELINE_DOCS }),
    ),
  )
  const eventFilter = { 'payload.otp_id': { $in: idsOf(otp) }, app_id: doc.app_id }
  const events = await store.docs('events').find(eventFilter, { sort: { _id: 1 }, limit: MAX_TIMELINE_DOCS })
  return createTimeline({ otp, status: statusAt(value, otp, now), attempts: attempts.flat(), events })
}
