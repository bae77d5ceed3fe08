// GET /apps/{id}/fraud: the decisions of the fraud guard, newest first. GET /apps/{id}/fraud/prefixes: the share of messages that were
// verified, recently and usually, by country and range of numbers and for all numbers and email addresses of devices.

import { isoTime } from '../../infra/iso-time.ts'
import { DAY_MS } from '../../infra/time.ts'
import { settledCounts, usualConversion } from '../../machines/fraud.tally.ts'
import type { KeyKind, Mode } from '../../machines/otp.ts'
import type { DecisionDoc, TallyDoc } from '../domain/fraud/documents.ts'
import type { AddRoutes } from './admin-deps.ts'
import type { DecisionAnswer, PrefixTallyAnswer } from './fraud.schemas.ts'
import { getOr404 } from './request-input.ts'

export const addFraudRoutes: AddRoutes = (router, { store, clock, readPage }) => {
  const apps = store.docs('apps')
  const [decisions, tallies] = [store.docs('fraud_decisions'), store.docs('fraud_tallies')]

  router.get('/apps/:id/fraud', async ctx => {
    const { _id: app_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    ctx.body = await readPage(ctx, { docs: decisions, filter: { app_id }, newestFirst: true, show: decisionView })
  })

  router.get('/apps/:id/fraud/prefixes', async ctx => {
    const { _id: app_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const show = (tally: TallyDoc) => tallyView(tally, clock.now())
    ctx.body = await readPage(ctx, { docs: tallies, filter: { app_id }, show })
  })
}

function decisionView(decision: DecisionDoc): DecisionAnswer {
  const { _id: id, at, mode, otp_id, masked: masked_recipient, country } = decision
  const { enforced, outcome, channel, verdict, score, reasons, unrecorded } = decision
  return {
    id,
    at: isoTime(at),
    mode,
    otp_id,
    masked_recipient,
    country,
    enforced,
    outcome,
    channel,
    verdict,
    score,
    reasons,
    unrecorded,
  }
}

function tallyView({ _id, app_id, state }: TallyDoc, now: number): PrefixTallyAnswer {
  // As tallyId has written it.
  const [mode, started_by, prefix] = _id.slice(app_id.length + 1).split(':') as [Mode, KeyKind, string]
  return {
    prefix,
    mode,
    started_by,
    last_hour: settledCounts(state, now),
    usual_share: usualConversion(state, now),
    days: state.days.map(({ at, sent, verified }) => ({ day: isoTime(at * DAY_MS).slice(0, 10), sent, verified })),
  }
}
