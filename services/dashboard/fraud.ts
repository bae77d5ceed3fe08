// The decisions of the fraud guard, newest first, and the share of messages that were verified, recently and usually, by country and range
// of numbers and for all numbers and email addresses of devices.
import { isoTime } from '../../infra/iso-time.ts'
import { DAY_MS } from '../../infra/time.ts'
import { settledCounts, usualConversion } from '../../machines/fraud.tally.ts'
import type { KeyKind, Mode } from '../../machines/otp.ts'
import type { DecisionDoc, TallyDoc } from '../domain/fraud/documents.ts'
import { page } from './answers.ts'
import { type DecisionAnswer, decisionPage, type PrefixTallyAnswer, prefixPage } from './fraud.schemas.ts'
import { operation } from './operation.ts'
import { pageQuery } from './pages.ts'

const decisionExample: DecisionAnswer = {
  id: 'frd_01k2m8x4e9s7v3hqz5tnw6yb0c',
  at: '2030-01-01T12:00:00.000Z',
  mode: 'live',
  otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  masked_recipient: '+44****56',
  country: 'GB',
  enforced: true,
  outcome: 'refused',
  channel: null,
  verdict: 'refuse',
  score: 100,
  reasons: [
    {
      signal: 'neighbours',
      scope: 'hundred',
      subject: '+447700900',
      points: 100,
      sent: 12,
      verified: 0,
      usual: 0.8,
      detail: '12 numbers that differ in their last two digits, none of them verified.',
      pace: null,
    },
  ],
  unrecorded: 0,
}

const tallyExample: PrefixTallyAnswer = {
  prefix: '+447700',
  mode: 'live',
  started_by: 'server',
  last_hour: { sent: 120, verified: 96 },
  usual_share: 0.81,
  days: [{ day: '2030-01-01', sent: 2_000, verified: 1_620 }],
}

export const fraudOperations = [
  operation({
    id: 'listFraudDecisions',
    request: 'GET /apps/{id}/fraud',
    role: 'viewer',
    summary: 'List the decisions of the fraud guard',
    description: 'Newest first.',
    query: pageQuery,
    answers: [page(decisionPage, 'A page of decisions.', decisionExample)],
    handle: ({ ctx, app, query }, { store, readPage }) => {
      const docs = store.docs('fraud_decisions')
      return readPage(ctx, { docs, filter: { app_id: app._id }, newestFirst: true, show: decisionView }, query)
    },
  }),
  operation({
    id: 'listPrefixTallies',
    request: 'GET /apps/{id}/fraud/prefixes',
    role: 'viewer',
    summary: 'List conversion by range of numbers',
    description: 'The share of messages that were verified, recently and usually.',
    query: pageQuery,
    answers: [page(prefixPage, 'A page of countries and ranges.', tallyExample)],
    handle: ({ ctx, app, query }, { store, clock, readPage }) => {
      const show = (tally: TallyDoc) => tallyView(tally, clock.now())
      return readPage(ctx, { docs: store.docs('fraud_tallies'), filter: { app_id: app._id }, show }, query)
    },
  }),
]

export function decisionView(decision: DecisionDoc): DecisionAnswer {
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
