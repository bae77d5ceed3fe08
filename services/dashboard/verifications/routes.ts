// GET /verifications and GET /apps/{id}/verifications with filters, GET /verifications/{otp_id}. A verification as an operator sees it: its
// state and its timeline. The recipient is masked: an operator who searches for a recipient knows it already.
import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import type { Delivery } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { statusView } from '../../../machines/otp.view.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { pageFields } from '../pages.ts'
import { getOr404, readQuery } from '../request-input.ts'
import { refuseEmptyRange } from '../time-query.ts'
import type { VerificationAnswer } from './schemas.ts'
import { createSearch, searchFields } from './search.ts'
import { createTimeline } from './timeline.ts'

const query = z.strictObject({ ...pageFields, ...searchFields }).check(refuseEmptyRange)
const queryOfAllApps = z
  .strictObject({ ...pageFields, ...searchFields, app_id: z.string().optional() })
  .check(refuseEmptyRange)

export const addVerificationRoutes: AddRoutes = (router, { store, keyring, clock, readFilteredPage }) => {
  const docs = store.docs('otps')
  const show = (doc: OtpDoc) => operatorView(keyring, doc, clock.now())
  const createListing = createSearch({ store, keyring, clock })

  router.get('/verifications', async ctx => {
    const { limit, cursor, ...search } = readQuery(ctx, queryOfAllApps)
    ctx.body = await readFilteredPage(ctx, { ...(await createListing(ctx, search)), show }, { limit, cursor })
  })

  router.get('/verifications/:otp_id', async ctx => {
    const doc = await getOr404(ctx, docs, ctx.params.otp_id, 'verification')
    ctx.body = { ...show(doc), timeline: await loadTimeline(store, doc, clock.now()) }
  })

  router.get('/apps/:id/verifications', async ctx => {
    const { _id: app_id } = await getOr404(ctx, store.docs('apps'), ctx.params.id, 'app')
    const { limit, cursor, ...search } = readQuery(ctx, query)
    const listing = await createListing(ctx, { ...search, app_id })
    ctx.body = await readFilteredPage(ctx, { ...listing, show }, { limit, cursor })
  })
}

const MAX_TIMELINE_DOCS = 1_000

async function loadTimeline(store: CountersignStore, doc: OtpDoc, now: number) {
  const { value, context: otp } = toCurrentVersion(doc)
  const attempts = await Promise.all(
    otp.deliveries.map(({ delivery_id }) => {
      const attemptFilter = { _id: { $gte: `${delivery_id}:`, $lt: `${delivery_id};` } }
      return store.docs('attempts').find(attemptFilter, { sort: { _id: 1 }, limit: MAX_TIMELINE_DOCS })
    }),
  )
  const eventFilter = { 'payload.otp_id': doc._id, app_id: doc.app_id }
  const events = await store.docs('events').find(eventFilter, { sort: { _id: 1 }, limit: MAX_TIMELINE_DOCS })
  return createTimeline({ otp, status: statusAt(value, otp, now), attempts: attempts.flat(), events })
}

function operatorView(keyring: Pick<Keyring, 'unseal'>, doc: OtpDoc, now: number): VerificationAnswer {
  const saved = toCurrentVersion(doc)
  const { context: otp } = saved
  const { sealed_action_url, ...view } = statusView(saved, now)
  return {
    ...view,
    // Null too when the data key of an old link is no longer configured.
    action_url: sealed_action_url === null ? null : unsealOrNull(keyring, sealed_action_url, atRest.link(otp.otp_id)),
    created_at: isoTime(view.created_at),
    expires_at: isoTime(view.expires_at),
    verified_at: isoTimeOrNull(view.verified_at),
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
const deliveryView = ({ created_at, updated_at, vendor_code, vendor_text, ...delivery }: Delivery) => ({
  ...delivery,
  created_at: isoTime(created_at),
  updated_at: isoTime(updated_at),
})
