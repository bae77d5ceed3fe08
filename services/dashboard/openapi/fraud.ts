// The fraud guard in the OpenAPI document.
import { type DecisionAnswer, decisionPage, type PrefixTallyAnswer, prefixPage } from '../fraud.schemas.ts'
import { adminOperation, ok, PAGE } from './admin-operation.ts'

const decision: DecisionAnswer = {
  id: 'fdc_01k2m8x4e9s7v3hqz5tnw6yb0c',
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

const tally: PrefixTallyAnswer = {
  prefix: '+447700',
  mode: 'live',
  started_by: 'server',
  last_hour: { sent: 120, verified: 96 },
  usual_share: 0.81,
  days: [{ day: '2030-01-01', sent: 2_000, verified: 1_620 }],
}

export const fraudOperations = [
  adminOperation({
    id: 'listFraudDecisions',
    route: ['get', '/apps/{id}/fraud'],
    summary: 'List the decisions of the fraud guard',
    description: 'Newest first.',
    parameters: PAGE,
    answers: [ok(decisionPage, 'A page of decisions.', { items: [decision], next_cursor: null })],
  }),
  adminOperation({
    id: 'listPrefixTallies',
    route: ['get', '/apps/{id}/fraud/prefixes'],
    summary: 'List conversion by range of numbers',
    description: 'The share of messages that were verified, recently and usually.',
    parameters: PAGE,
    answers: [ok(prefixPage, 'A page of countries and ranges.', { items: [tally], next_cursor: null })],
  }),
]
