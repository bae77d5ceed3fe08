// In: an app's settings as an operator wrote them; every member is optional. Out: complete settings, or every problem with its path.
// Settings are stored as they were written. Defaults are resolved when they are read, so that a new default reaches every app that has
// not set the member.
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { AppSettings } from '../../../machines/settings.ts'
import {
  exceedsFormerGuessBudget,
  exceedsGuessBudget,
  type GuessSettings,
  guessBudget,
  guessesPerDay,
  MIN_GUESS_ODDS,
} from './guess-budget.ts'
import { resolveDefaults } from './parse-stored.ts'
import {
  androidHash,
  channel,
  country,
  countryOrAll,
  domain,
  hasNoRepeats,
  locale,
  origin,
  phoneNumber,
} from './value-schemas.ts'

const enabled = z.boolean().default(true)

const seconds = (min: number, max: number) => z.int().min(min).max(max)

const rule = z
  .strictObject({ max: z.int().min(1), seconds: seconds(1, 604_800) })
  .meta({ id: 'LimitRuleInput', description: 'At most `max` in any `seconds` seconds.' })

const rules = z.array(rule)

/** An empty order is allowed: every send is then refused with NoEnabledChannelError. */
const order = z.array(channel).refine(hasNoRepeats, 'names a channel twice')

const code = z.strictObject({
  length: z.int().min(4).max(8).default(6),
  ttl_seconds: seconds(60, 3_600).default(600),
})

const limits = z.strictObject({
  recipient: rules.default([
    { max: 5, seconds: 600 },
    { max: 20, seconds: 86_400 },
  ]),
  recipient_messages: rules.default([{ max: 50, seconds: 86_400 }]),
  client_ip: rules.default([
    { max: 20, seconds: 600 },
    { max: 100, seconds: 86_400 },
  ]),
  app: rules.default([{ max: 6_000, seconds: 60 }]),
  app_publishable: rules.default([
    { max: 60, seconds: 60 },
    { max: 20_000, seconds: 86_400 },
  ]),
  app_without_client_ip: rules.default([{ max: 60, seconds: 60 }]),
  client_ip_reputation_factor: z.number().min(0).max(1).default(0.2),
  recipient_verify: rules.default([{ max: 20, seconds: 3_600 }]),
})

const routing = z.strictObject({
  default: order.default(['sms', 'whatsapp', 'telegram', 'email']),
  countries: z.record(country, order).default({}),
})

const sms = z.strictObject({
  enabled,
  domain: domain.nullable().default(null),
  android_hash: androidHash.nullable().default(null),
})

export const whatsAppMode = z.enum(['template', 'link_code', 'link_inbound']).meta({
  id: 'WhatsAppMode',
  description: '`template` sends the code. In the link modes the user writes first.',
})

const whatsapp = z.strictObject({
  enabled,
  mode: whatsAppMode.default('template'),
  business_number: phoneNumber.nullable().default(null),
})

const channels = z.strictObject({
  sms: sms.prefault({}),
  email: z.strictObject({ enabled }).prefault({}),
  telegram: z.strictObject({ enabled }).prefault({}),
  whatsapp: whatsapp.prefault({}),
})

export const fraudGuardMode = z.enum(['off', 'record', 'on']).meta({
  id: 'FraudGuardMode',
  description: '`record` only records what `on` would refuse.',
})

export const fraudGuardAction = z.enum(['refuse', 'free_channel']).meta({
  id: 'FraudGuardAction',
  description: '`free_channel` moves a send to a channel without a price.',
})

const fraudGuard = z.strictObject({
  // Without one, `publishable_send` decides.
  mode: fraudGuardMode.optional(),
  action: fraudGuardAction.default('refuse'),
})

export const publishableChallenge = z.enum(['off', 'risk', 'always']).meta({
  id: 'PublishableChallenge',
  description:
    'When a publishable key must solve a challenge: `risk` where a live send looks risky, `always` in test mode too.',
})

const verifyAttempts = z.int().min(1).max(10).default(5)

const settingsRules = z
  .strictObject({
    locale: locale.default('en'),
    code: code.prefault({}),
    verify_attempts: verifyAttempts,
    send_attempts: z.int().min(1).max(20).default(5),
    resend_cooldown_seconds: z.array(seconds(0, 3_600)).min(1).default([30, 60, 120]),
    token_ttl_seconds: seconds(1, 3_600).default(600),
    idempotency_ttl_seconds: seconds(60, 604_800).default(86_400),
    limits: limits.prefault({}),
    routing: routing.prefault({}),
    channels: channels.prefault({}),
    blocked_countries: z.array(country).default([]),
    allowed_countries: z.array(country).nullable().default(null),
    spend_caps: z.record(countryOrAll, z.int().min(0)).default({}),
    fraud_guard: fraudGuard.prefault({}),
    auto_fallback: z.boolean().default(false),
    publishable_send: z.boolean().default(false),
    // Without one, `publishable_send` decides.
    publishable_challenge: publishableChallenge.optional(),
    allowed_origins: z.array(origin).default([]),
    retention_days: z.int().min(1).max(3_650).default(30),
  })
  .refine(settings => settings.verify_attempts * 2_000 <= 10 ** settings.code.length, {
    path: ['verify_attempts'],
    message: 'allows too many guesses at so short a code: attempts ÷ 10^length must not exceed 1/2000',
    // Without `when`, zod skips this check if any other member has a problem.
    when: ({ value }) => guessable.safeParse(value).success,
  })
  .refine(({ limits }) => limits.recipient_verify.length > 0, {
    path: ['limits', 'recipient_verify'],
    message: 'needs at least one rule: wrong codes must be limited over all verifications of a recipient',
    when: ({ value }) => wrongCodesLimited.safeParse(value).success,
  })
  .refine(settings => !exceedsFormerGuessBudget(settings), guessRefusal())

/** Settings as they are loaded. Earlier releases stored link modes without a business number: such a mode is not usable. They also stored
 *  settings that exceed the guess budget as it is counted now: these stay as they are, with a warning. And longer lists of rules. */
export const settingsSchema = settingsRules.transform(withDerivedDefaults)

/** Every rule of a list is a window to count in, so a long list makes each send slow. */
const MAX_RULES = 10

const writtenRules = settingsRules
  .superRefine(({ limits }, context) => {
    for (const [name, list] of Object.entries(limits))
      if (Array.isArray(list) && list.length > MAX_RULES)
        context.addIssue({ code: 'custom', path: ['limits', name], message: `has more than ${MAX_RULES} rules` })
  })
  .refine(({ channels }) => !lacksBusinessNumber(channels.whatsapp), {
    path: ['channels', 'whatsapp', 'business_number'],
    message:
      'is required where channels.whatsapp.mode is a link mode: give the number that the link opens, such as "+15550001111", or the mode "template"',
    when: ({ value }) => linkable.safeParse(value).success,
  })

/** Settings in a bootstrap file, which may be those that are stored. Whether they are, and may exceed the guess budget, is found out when
 *  the file is compared with the store. */
export const fileSettingsSchema = writtenRules.transform(withDerivedDefaults)

/** Settings as they are written. */
export const writtenSettingsSchema = writtenRules
  .refine(settings => !exceedsGuessBudget(settings), guessRefusal())
  .transform(withDerivedDefaults)

function withDerivedDefaults<S extends z.output<typeof settingsRules>>(settings: S) {
  const { publishable_send, fraud_guard } = settings
  // Anyone can read a publishable key, so an app that lets it send is guarded unless its operator decides otherwise.
  const mode = fraud_guard.mode ?? (publishable_send ? 'on' : 'record')
  const publishable_challenge = settings.publishable_challenge ?? (publishable_send ? 'risk' : 'off')
  return { ...settings, fraud_guard: { mode, action: fraud_guard.action }, publishable_challenge }
}

export const lacksBusinessNumber = (settings: z.input<typeof whatsapp> | undefined): boolean =>
  (settings?.mode ?? 'template') !== 'template' && (settings?.business_number ?? null) === null

const linkable = z.object({ channels: z.object({ whatsapp }) })

const guessable = z.object({
  verify_attempts: z.int().min(1).max(10),
  code: z.object({ length: z.int().min(4).max(8) }),
})

const wrongCodesLimited = z.object({ limits: z.object({ recipient_verify: rules }) })
const guessLimited = z.object({
  ...guessable.shape,
  limits: z.object({ recipient: rules, recipient_verify: rules.min(1) }),
})

function guessRefusal() {
  return {
    path: ['limits', 'recipient_verify'],
    error: ({ input }: { input?: unknown }) => guessProblem(input as AppSettings),
    when: ({ value }: { value: unknown }) => guessLimited.safeParse(value).success,
  }
}

const guessMembers = z.object({
  verify_attempts: verifyAttempts,
  code: z.object({ length: code.shape.length }).prefault({}),
  limits: z.object({ recipient: limits.shape.recipient, recipient_verify: limits.shape.recipient_verify }).prefault({}),
})

/** Whether two settings, as they are written, allow the same guesses. */
export function haveSameGuessMembers(one: unknown, other: unknown): boolean {
  const [first, second] = [guessMembers.safeParse(one), guessMembers.safeParse(other)]
  return first.success && second.success && isDeepStrictEqual(first.data, second.data)
}

export const guessProblem = (settings: GuessSettings): string =>
  `allows ${guessesPerDay(settings)} guesses per recipient and day with limits.recipient and verify_attempts; ` +
  `a code of ${settings.code.length} digits allows ${guessBudget(settings)} (1/${MIN_GUESS_ODDS} of all codes)`

/** Settings as they are written and stored, without defaults. */
export type SettingsInput = z.input<typeof settingsSchema>

/** `never` if the schema and the type differ, so that the function below does not compile. */
type Same<A, B> = [A, B] extends [B, A] ? A : never
type Settings = Same<AppSettings, z.output<typeof settingsSchema>>

export const resolveSettings = (stored: SettingsInput): Settings => resolveDefaults(settingsSchema, stored)
