// GET /verifications/{otp_id}, GET /apps/{id}/verifications?recipient=. What an operator sees of a verification: where it stands and
// how it got there. The recipient stays masked; who searches for one knows it already.
import { z } from 'zod'
import { type Keyring, Unsealable } from '../../../infra/crypto/keyring.ts'
import type { Filter } from '../../../infra/store/docs.ts'
import type { Delivery } from '../../../machines/otp.ts'
import { current } from '../../../machines/otp.versions.ts'
import { statusAt } from '../../../machines/rules.ts'
import { statusView } from '../../../machines/view.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { recipientIndexes } from '../../domain/verifications/counting.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/sealing.ts'
import { type Resource, time, timeOrNull } from '../admin.ts'
import { PAGE } from '../paging.ts'
import { found, queryOf } from '../requests.ts'
import { canonical, recipientQuery } from './recipients.ts'
import { timeline } from './timeline.ts'

const query = z.strictObject({ ...PAGE, recipient: recipientQuery.optional() })

export const MODES = ['live', 'test'] as const

export const verifications: Resource = (router, { store, keyring, clock, page }) => {
  const docs = store.docs('otps')
  const show = (doc: OtpDoc) => shown(keyring, doc, clock.now())

  router.get('/verifications/:otp_id', async ctx => {
    const doc = await found(docs, ctx.params.otp_id, 'verification')
    ctx.body = { ...show(doc), timeline: await timelineOf(store, doc, clock.now()) }
  })

  router.get('/apps/:id/verifications', async ctx => {
    const { _id: app_id } = await found(store.docs('apps'), ctx.params.id, 'app')
    const { recipient, ...asked } = queryOf(ctx, query)
    const filter = recipient === undefined ? { app_id } : verificationsOf(keyring, app_id, canonical(recipient))
    ctx.body = await page(ctx, { docs, filter, newestFirst: true, show }, asked)
  })
}

const MOST = 1_000

async function timelineOf(store: CountersignStore, doc: OtpDoc, now: number) {
  const { value, context: otp } = current(doc)
  const attempts = await Promise.all(
    otp.deliveries.map(({ delivery_id }) => {
      const ofDelivery = { _id: { $gte: `${delivery_id}:`, $lt: `${delivery_id};` } }
      return store.docs('attempts').find(ofDelivery, { sort: { _id: 1 }, limit: MOST })
    }),
  )
  const caused = { 'payload.otp_id': doc._id, app_id: doc.app_id }
  const events = await store.docs('events').find(caused, { sort: { _id: 1 }, limit: MOST })
  return timeline({ otp, status: statusAt(value, otp, now), attempts: attempts.flat(), events })
}

/** Those of one recipient: in both modes, and under every key. */
export const verificationsOf = (
  keyring: Pick<Keyring, 'indexes'>,
  app_id: string,
  recipient: string,
): Filter<Pick<OtpDoc, '_id' | 'app_id' | 'mode' | 'recipient'>> => ({
  app_id,
  mode: { $in: MODES },
  recipient: { $in: MODES.flatMap(mode => recipientIndexes(keyring, { app_id, mode }, recipient)) },
})

function shown(keyring: Pick<Keyring, 'unseal'>, doc: OtpDoc, now: number) {
  const saved = current(doc)
  const { context: otp } = saved
  const { sealed_action_url, ...view } = statusView(saved, now)
  return {
    ...view,
    action_url: sealed_action_url === null ? null : opened(keyring, sealed_action_url, atRest.link(otp.otp_id)),
    created_at: time(view.created_at),
    expires_at: time(view.expires_at),
    verified_at: timeOrNull(view.verified_at),
    resend_at: timeOrNull(view.resend_at),
    deliveries: view.deliveries.map(shownDelivery),
    ...{ company_id: otp.company_id, app_id: otp.app_id, mode: otp.mode },
    ...{ started_by: otp.started_by, country: otp.recipient.country, locale: otp.locale },
    ...{ order: otp.order, sends: otp.sends, generation: otp.generation, wrong_codes: otp.wrong_codes },
    approved_by: otp.approval?.by ?? null,
    exchange: otp.exchange && { key_id: otp.exchange.key_id, at: time(otp.exchange.at) },
  }
}

/** A link of days ago may have been sealed with a key that is gone; the rest is still worth showing. */
function opened(keyring: Pick<Keyring, 'unseal'>, sealed: string, context: string): string | null {
  try {
    return keyring.unseal(sealed, context)
  } catch (error) {
    if (error instanceof Unsealable) return null
    throw error
  }
}

const shownDelivery = ({ created_at, updated_at, ...delivery }: Delivery) => ({
  ...delivery,
  created_at: time(created_at),
  updated_at: time(updated_at),
})
