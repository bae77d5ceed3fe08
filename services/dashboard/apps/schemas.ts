// An app and its settings as the admin API answers them. Settings are complete with their defaults: docs/settings.md describes each.
import { z } from 'zod'
import type { AppSettings } from '../../../machines/settings.ts'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { fraudGuardAction, fraudGuardMode, publishableChallenge, whatsAppMode } from '../../domain/tenancy/settings.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import { pageOf } from '../page-schema.ts'

const limitRule = z
  .object({
    max: z.int().meta({ description: 'At most so many.' }),
    seconds: z.int().meta({ description: 'In any so many seconds.' }),
  })
  .meta({ id: 'LimitRule', description: 'At most `max` in any `seconds` seconds.' })

const rules = (description: string) => z.array(limitRule).meta({ description })

const limits = z
  .object({
    recipient: rules('Sends to one recipient.'),
    recipient_messages: rules('Messages to one recipient, resends included.'),
    client_ip: rules('Sends and resends from one client address.'),
    app: rules('Sends and resends of the app.'),
    app_publishable: rules('Sends and resends by publishable keys.'),
    app_without_client_ip: rules('Sends without a usable client address.'),
    client_ip_reputation_factor: z.number().meta({
      description: 'The share of `client_ip` that a VPN, proxy, Tor or datacenter address gets.',
    }),
    recipient_verify: rules('Wrong codes for one recipient.'),
  })
  .meta({ id: 'LimitSettings', description: 'Every rule of a list must hold.' })

const order = z.array(channel)

const routing = z
  .object({
    default: order.meta({ description: 'The order in which channels are tried.' }),
    countries: z.record(z.string(), order).meta({ description: 'The order of a country, by ISO 3166-1 alpha-2 code.' }),
  })
  .meta({ id: 'RoutingSettings', description: 'In which order channels are tried.' })

const enabled = z.boolean().meta({ description: 'Whether the channel may be used.' })

const channelSwitch = z.object({ enabled }).meta({ id: 'ChannelSwitch', description: 'Whether a channel may be used.' })

const sms = z
  .object({
    enabled,
    domain: z.string().nullable().meta({ description: 'The text ends in `@domain #code`.' }),
    android_hash: z.string().nullable().meta({ description: "The text ends in the app's SMS Retriever hash." }),
  })
  .meta({ id: 'SmsSettings', description: 'Text messages.' })

const whatsapp = z
  .object({
    enabled,
    mode: whatsAppMode,
    business_number: z.string().nullable().meta({ description: 'The number that a wa.me link opens.' }),
  })
  .meta({ id: 'WhatsAppSettings', description: 'WhatsApp.' })

const channels = z
  .object({ sms, email: channelSwitch, telegram: channelSwitch, whatsapp })
  .meta({ id: 'ChannelSettings', description: 'Each channel of the app.' })

const code = z
  .object({
    length: z.int().meta({ description: 'How many digits a code has.' }),
    ttl_seconds: z.int().meta({ description: 'How long a code is valid.' }),
  })
  .meta({ id: 'CodeSettings', description: 'The code.' })

const fraudGuard = z
  .object({ mode: fraudGuardMode, action: fraudGuardAction })
  .meta({ id: 'FraudGuardSettings', description: 'What is done about sends that look like SMS pumping.' })

export const appSettings = z
  .object({
    locale: z.string().meta({ description: 'The language of messages without a `locale`.' }),
    code,
    verify_attempts: z.int().meta({ description: 'Wrong codes per verification.' }),
    send_attempts: z.int().meta({ description: 'Sends and resends per verification.' }),
    resend_cooldown_seconds: z.array(z.int()).meta({
      description: 'The wait after the 1st, 2nd, … send; the last value repeats.',
    }),
    token_ttl_seconds: z.int().meta({ description: 'How long a verification token is valid.' }),
    idempotency_ttl_seconds: z.int().meta({ description: 'How long an idempotency key counts.' }),
    limits,
    routing,
    channels,
    blocked_countries: z.array(z.string()).meta({ description: 'Countries that are never sent to.' }),
    allowed_countries: z.array(z.string()).nullable().meta({
      description: 'The only countries that are sent to; null for all.',
    }),
    spend_caps: z.record(z.string(), z.int()).meta({ description: 'Micro-units a day, by country or `*`.' }),
    fraud_guard: fraudGuard,
    auto_fallback: z.boolean().meta({ description: 'Whether a failed message is sent on the next channel.' }),
    publishable_send: z.boolean().meta({ description: 'Whether publishable keys may send in live mode.' }),
    publishable_challenge: publishableChallenge,
    allowed_origins: z.array(z.string()).meta({ description: 'The web pages that may use a publishable key.' }),
    retention_days: z.int().meta({ description: 'How long verifications are kept.' }),
  })
  .meta({
    id: 'AppSettings',
    description: 'The settings of an app, complete with their defaults.',
  }) satisfies z.ZodType<AppSettings>

const settingsWarning = z
  .object({
    path: z.string().meta({ description: 'In the settings, dotted.' }),
    message: z.string().meta({ description: 'What is wrong with it; the words follow the name of the setting.' }),
  })
  .meta({
    id: 'SettingsWarning',
    description:
      'A stored setting that is hardly meant: no send can use it, or an earlier release accepted what is refused now.',
  })

export const app = z
  .object({
    id: z.string().meta({ description: 'Identifies the app.' }),
    company_id: z.string().meta({ description: 'The company it belongs to.' }),
    name: z.string().meta({ description: 'It is in the messages.' }),
    settings: appSettings,
    warnings: z.array(settingsWarning).meta({ description: 'What is hardly meant in the settings.' }),
    created_at: timeSchema('When it was created.'),
    closed_at: timeSchema('When it was closed: its keys are refused since. Null while it is open.').nullable(),
  })
  .meta({ id: 'App', description: 'An app of a company: its keys, settings, providers and webhook.' })

export const appPage = pageOf('AppPage', app)

export type AppAnswer = z.output<typeof app>
