// Tries settings on past traffic, before they are saved.
import { z } from 'zod'
import { DAY_MS } from '../../../infra/time.ts'
import { resolveSettings } from '../../domain/tenancy/settings.ts'
import { ok } from '../answers.ts'
import { MAX_APP_BYTES, MAX_APP_VALUES, prepareSettings } from '../apps/operations.ts'
import { settingsPatch } from '../apps/settings-schemas.ts'
import { operation } from '../operation.ts'
import { validationProblem } from '../request-input.ts'
import { momentSchema } from '../webhook/events.ts'
import { NOT_JUDGED, type SettingsTrialAnswer, settingsTrial } from './schemas.ts'
import { MAX_PAST_CALLS, trySettings } from './trial.ts'
import { createTurns } from './turns.ts'

const body = z.strictObject({
  settings: z.record(z.string(), z.unknown()),
  since: momentSchema,
  until: momentSchema.optional(),
})

const MAX_TRIED_DAYS = 31

const example: SettingsTrialAnswer = {
  sends: 4210,
  refused: [{ type: 'RateLimitExceededError', scope: 'recipient', country: 'GB', count: 12 }],
  no_longer_refused: [],
  moved: [{ from: 'sms', to: 'whatsapp', country: 'BR', count: 630 }],
  cost_micros: { was: 189_450_000, would_be: 151_900_000 },
  examples: [
    {
      at: '2030-01-01T12:00:00.000Z',
      outcome: 'refused',
      otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
      masked_recipient: '+44****56',
      country: 'GB',
      type: 'RateLimitExceededError',
      scope: 'recipient',
      from: 'sms',
      to: null,
    },
  ],
  not_judged: [{ reason: 'may_come_back', count: 12, detail: NOT_JUDGED.may_come_back }],
}

export const settingsTrialOperations = [
  operation({
    id: 'trySettings',
    request: 'POST /apps/{id}/settings/try',
    role: 'developer',
    allowedWhenClosed: true,
    summary: 'Try settings on past traffic',
    description: `What the live sends from \`since\` (inclusive) to \`until\` (exclusive, now without it) would have met with these settings, by the same rules as live sends. Nothing is saved. At most ${MAX_TRIED_DAYS} days and ${MAX_PAST_CALLS} sends and refusals, counted from where the longest limit begins. One is tried at a time, and a company has one that runs or waits, not counting those whose callers have left.`,
    body: {
      schema: body,
      documentedAs: body
        .extend({ settings: settingsPatch })
        .meta({ id: 'TrySettingsRequest', description: 'Settings as to change an app, and a time to try them on.' }),
      example: {
        settings: { limits: { recipient: [{ max: 3, seconds: 600 }] } },
        since: '2030-01-01T00:00:00Z',
        until: '2030-01-08T00:00:00Z',
      },
      maxBytes: MAX_APP_BYTES,
      maxValues: MAX_APP_VALUES,
    },
    answers: [ok(settingsTrial, 'What would have been.', example)],
    // Each takes seconds of the processor, which other calls need too.
    keep: createTurns,
    handle: async ({ ctx, app, body: { settings, since, until } }, { store, keyring, clock }, inTurn) => {
      const now = clock.now()
      const end = Math.min(until ?? now, now)
      if (since >= end) throw validationProblem([{ path: 'since', message: 'must be in the past, and before until' }])
      if (end - since > MAX_TRIED_DAYS * DAY_MS)
        throw validationProblem([{ path: 'since', message: `must be at most ${MAX_TRIED_DAYS} days before until` }])
      const tried = await prepareSettings(settings)(app, app.name)
      const input = {
        app_id: app._id,
        saved: resolveSettings(app.settings),
        tried: resolveSettings(tried),
        since,
        until: end,
        now,
        app_created_at: app.created_at,
      }
      const isAbandoned = () => ctx.res.destroyed
      const turn = { company_id: app.company_id, isAbandoned }
      return inTurn(turn, () => trySettings({ store, keyring, isAbandoned }, input))
    },
  }),
]
