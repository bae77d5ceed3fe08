// What past traffic says about settings, as the admin API answers it.
import { z } from 'zod'
import { limitScope, problemType, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'

const country = z.string().nullable().meta({ description: 'The country of the number.' })
const count = z.int().min(1).meta({ description: 'How many.' })
const type = problemType.meta({ description: 'The type of the error.' })
const scope = limitScope.nullable().meta({ description: 'The limit, if it is one.' })

const trialRefusals = z
  .object({ type, scope, country, count })
  .meta({ id: 'TrialRefusals', description: 'Sends and resends with one refusal, by country.' })

const trialMoves = z
  .object({
    from: channel.meta({ description: 'The channel that the message had.' }),
    to: channel.meta({ description: 'The channel that it would have had.' }),
    country,
    count,
  })
  .meta({ id: 'TrialMoves', description: 'Messages that would have had another channel, by country.' })

const trialExample = z
  .object({
    at: timeSchema('When the call came.'),
    outcome: z
      .enum(['refused', 'no_longer_refused', 'moved'])
      .meta({ id: 'TrialOutcome', description: 'What the settings would have changed.' }),
    otp_id: z
      .string()
      .nullable()
      .meta({ description: 'The verification; null for a send that was refused, which has none.' }),
    masked_recipient: z.string().meta({ description: 'The recipient, masked.' }),
    country,
    type: type.nullable().meta({ description: 'The refusal that would be, or that was; null for a move.' }),
    scope,
    from: channel.nullable().meta({ description: 'The channel it had; null if it was refused.' }),
    to: channel.nullable().meta({ description: 'The channel it would have had; null if it would be refused.' }),
  })
  .meta({ id: 'TrialExample', description: 'A call that the settings would have decided otherwise.' })

/** Why something could not be judged, and the sentence that says it. */
export const NOT_JUDGED = {
  not_reproduced:
    'The saved settings do not decide as was decided then: settings, providers or address lists were others, or processes counted at the same time.',
  not_sent:
    'Automatic fallbacks and answers on a WhatsApp link that would not be sent. What their recipients would have done is not known.',
  link_answers:
    'They would wait on another WhatsApp link, or on none. Whether the users would have written, and been answered, is not known.',
  code_life:
    'Codes that were entered later than these settings allow, or that expired and would have been valid for longer.',
  arrival:
    'Moved or let through. Whether they would have arrived and been paid is not known: providers, breakers and the balance of the time are not played.',
  balance: 'The balance was too low. It may be again.',
  of_unknown_send: 'Messages of verifications that are not on record any more.',
  challenge: 'A device was asked for a challenge. Most solve it and call again.',
  refused_early: 'A device was refused before its recipient was read.',
  not_recorded: 'Recorded by a former release, without what the rules look at.',
  unreadable: 'Its data key is not configured any more.',
  removed: 'Verifications that are not stored any more: their retention has ended, or the recipient asked for it.',
  unrecorded_refusals: 'In a flood refusals are only counted, and they are kept for 7 days.',
  guard_without_past:
    'Sends to numbers that the fraud guard compares with the week before. Most of that week is no longer on record.',
  may_come_back: 'What these people would have done next is not known: try again, resend, enter the code.',
  link_resends: 'Verifications that were resent onto a WhatsApp link: that is no message, and has no record.',
  guesses: 'Wrong codes have no times on record, so their limits are not tried.',
  auto_fallback:
    'Failed messages that automatic fallback may send again by these settings, on a channel that it had not then.',
  reuse_pending: 'Sends by servers, which these settings treat otherwise while a verification is pending.',
  provider_order: 'Which provider of a channel comes first is not tried, nor what its vendor charges.',
  idempotency_keys:
    'Sends with an idempotency key. With a longer life of keys some would have been repeats; with a shorter one some repeats, which have no record, would have been sends.',
  challenges: 'Sends by devices, which these settings ask for a challenge otherwise.',
  origins: 'Sends by devices: the origin of their page is not on record.',
} as const

export type NotJudgedReason = keyof typeof NOT_JUDGED

const notJudged = z
  .object({
    reason: z
      .enum(Object.keys(NOT_JUDGED) as [NotJudgedReason, ...NotJudgedReason[]])
      .meta({ id: 'NotJudgedReason', description: 'Why it could not be judged.' }),
    count,
    detail: z.string().meta({ description: 'The reason in words.' }),
  })
  .meta({ id: 'NotJudged', description: 'What the answer leaves out.' })

export const settingsTrial = z
  .object({
    sends: z
      .int()
      .min(0)
      .meta({ description: 'Sends, resends and further messages of that time, refused ones included.' }),
    refused: z.array(trialRefusals).meta({ description: 'Accepted then, and refused by these settings.' }),
    no_longer_refused: z.array(trialRefusals).meta({ description: 'Refused then, and accepted by these settings.' }),
    moved: z.array(trialMoves).meta({ description: 'Sent on another channel.' }),
    cost_micros: z
      .object({
        was: z.int().min(0).meta({ description: 'What the messages cost.' }),
        would_be: z
          .int()
          .min(0)
          .meta({ description: 'What they would have cost, at the prices of today where the channel differs.' }),
      })
      .meta({ id: 'TrialCost', description: 'In micro-units, without what was refunded.' }),
    examples: z.array(trialExample).meta({ description: '20 at most, the oldest first.' }),
    not_judged: z.array(notJudged).meta({ description: 'What cannot be known. It is not guessed.' }),
  })
  .meta({ id: 'SettingsTrial', description: 'What past traffic would have met with other settings.' })

export type SettingsTrialAnswer = z.output<typeof settingsTrial>
