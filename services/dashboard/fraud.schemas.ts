// The decisions and tallies of the fraud guard as the admin API answers them.
import { z } from 'zod'
import type { Reason } from '../../machines/fraud.ts'
import type { DecisionDoc } from '../domain/fraud/documents.ts'
import { enumOf, keyKind, keyMode, timeSchema } from '../domain/openapi/shared-schemas.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'
import { pageOf } from './page-schema.ts'

const signal = enumOf<Reason['signal']>({
  neighbours: true,
  unverified: true,
}).meta({
  id: 'FraudSignal',
  description: 'What looks like pumping.',
})

const scope = enumOf<Reason['scope']>({
  number: true,
  hundred: true,
  block: true,
  range: true,
  country: true,
  app: true,
}).meta({
  id: 'FraudScope',
  description:
    'Which group of numbers it is about. `app`: all that the devices of the app send to. Of mails, `number` is one mailbox, `range` its domain, and `country` the kind of its provider.',
})

const conversion = {
  sent: z.int().meta({ description: 'How many were sent.' }),
  verified: z.int().meta({ description: 'How many of them were verified.' }),
}

const reason = z
  .object({
    signal,
    scope,
    subject: z.string().meta({
      description:
        'A country, a range of numbers by its first digits, a mail domain, or in words: `all numbers`, `all addresses`, `one number`, `one address`, `large mailbox providers`, `other mail domains`.',
    }),
    points: z.number().meta({ description: 'From 50 on it slows down, from 100 on it refuses.' }),
    ...conversion,
    usual: z.number().nullable().meta({ description: 'The share that is usually verified.' }),
    detail: z.string().meta({ description: 'A sentence for people.' }),
    pace: z
      .number()
      .nullable()
      .meta({ description: 'Sends in ten minutes that are still allowed; null for a refusal.' }),
  })
  .meta({ id: 'FraudReason', description: 'Why the guard decided so.' })

const outcome = enumOf<DecisionDoc['outcome']>({ refused: true, moved: true }).meta({
  id: 'FraudOutcome',
  description: '`moved`: the message took another channel.',
})

const verdict = enumOf<DecisionDoc['verdict']>({ slow: true, refuse: true }).meta({
  id: 'FraudVerdict',
  description: '`slow`: only so many as usual are let through.',
})

export const decision = z
  .object({
    id: z.string().meta({ description: 'Identifies the decision.' }),
    at: timeSchema('When it was made.'),
    mode: keyMode,
    otp_id: z.string().meta({ description: 'The verification. It does not exist if its first message was refused.' }),
    masked_recipient: z.string().meta({ description: 'The recipient, masked.' }),
    country: z.string().nullable().meta({ description: 'The country of the number.' }),
    enforced: z.boolean().meta({ description: 'False when the guard only records: the message was sent.' }),
    outcome,
    channel: channel.nullable().meta({ description: 'The channel that the message was moved to.' }),
    verdict,
    score: z.number().meta({ description: 'The points of the strongest reason.' }),
    reasons: z.array(reason).meta({ description: 'All reasons.' }),
    unrecorded: z.int().meta({ description: 'Decisions before this one that were too many to record.' }),
  })
  .meta({ id: 'FraudDecision', description: 'A decision of the fraud guard.' })

export const decisionPage = pageOf('FraudDecisionPage', decision)

const counts = z.object(conversion).meta({ id: 'ConversionCounts', description: 'Sent and verified.' })

const day = z
  .object({
    day: z.iso.date().meta({ description: 'The day, in UTC.' }),
    ...conversion,
  })
  .meta({ id: 'ConversionDay', description: 'Sent and verified on one day.' })

export const prefixTally = z
  .object({
    prefix: z.string().meta({
      description:
        'A country, or a range of numbers by its first digits; of what devices send also `all numbers`, `all addresses`, `large mailbox providers` and `other mail domains`. Single mail domains are not listed.',
    }),
    mode: keyMode,
    started_by: keyKind,
    last_hour: counts.meta({ description: 'Without the latest five to ten minutes.' }),
    usual_share: z.number().nullable().meta({ description: 'The share that is usually verified.' }),
    days: z.array(day).meta({ description: 'The latest days.' }),
  })
  .meta({ id: 'PrefixTally', description: 'The share of messages that were verified.' })

export const prefixPage = pageOf('PrefixTallyPage', prefixTally)

export type DecisionAnswer = z.output<typeof decision>
export type PrefixTallyAnswer = z.output<typeof prefixTally>
