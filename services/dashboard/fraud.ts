// GET /apps/{id}/fraud: what the toll-fraud guard refused or moved, or would have, newest first. GET /apps/{id}/fraud/prefixes: how many
// of the verifications by text message were proved lately, and usually, by country and range of numbers.

import { recentShare, usualShare } from '../../machines/fraud.tally.ts'
import type { DecisionDoc, TallyDoc } from '../domain/fraud/documents.ts'
import { type Resource, time } from './admin.ts'
import { found } from './requests.ts'

const DAY_MS = 86_400_000

export const fraud: Resource = (router, { store, clock, page }) => {
  const apps = store.docs('apps')
  const [decisions, tallies] = [store.docs('fraud_decisions'), store.docs('fraud_tallies')]

  router.get('/apps/:id/fraud', async ctx => {
    const { _id: app_id } = await found(apps, ctx.params.id, 'app')
    ctx.body = await page(ctx, { docs: decisions, filter: { app_id }, newestFirst: true, show: shownDecision })
  })

  router.get('/apps/:id/fraud/prefixes', async ctx => {
    const { _id: app_id } = await found(apps, ctx.params.id, 'app')
    const show = (tally: TallyDoc) => shownTally(tally, clock.now())
    ctx.body = await page(ctx, { docs: tallies, filter: { app_id }, show })
  })
}

function shownDecision(decision: DecisionDoc) {
  const { _id: id, at, mode, otp_id, masked: masked_recipient, country } = decision
  const { enforced, outcome, channel, verdict, score, reasons, unrecorded } = decision
  return {
    ...{ id, at: time(at), mode, otp_id, masked_recipient, country },
    ...{ enforced, outcome, channel, verdict, score, reasons, unrecorded },
  }
}

function shownTally({ _id, app_id, state }: TallyDoc, now: number) {
  const [mode, prefix] = _id.slice(app_id.length + 1).split(':')
  return {
    ...{ prefix, mode, last_hour: recentShare(state, now), usual_share: usualShare(state, now) },
    days: state.days.map(({ at, sent, verified }) => ({ day: time(at * DAY_MS).slice(0, 10), sent, verified })),
  }
}
