// The settings of an app, each declared once. From here come the types, the defaults, the checks of the admin API and the bootstrap file,
// the OpenAPI document, the fields of the dashboard and the table in docs/settings.md. Rules between settings are in
// services/domain/tenancy/settings.ts.
//
// `.meta` has its words: `title` is the label of its field and `description` the hint below; the OpenAPI document and
// the table say both. `more` is for the table alone, in Markdown. `values` says what it may be where bounds and choices
// do not, `example` stands in the empty field, and a number with the `unit` duration, percent or amount is written so.
// `screen` is the path of the screen that has its field; what a group says holds for its members. The `id` of a group
// names it in requests, and in answers without its `Input`.
import { z } from 'zod'
import {
  androidHash,
  channelOrder,
  country,
  countryOrAll,
  domain,
  httpsAddress,
  locale,
  origin,
  phoneNumber,
  siteKey,
  widgetSecret,
} from './settings.values.ts'

export interface Choice {
  label: string
  /** What it does, in a sentence or two. */
  hint: string
}

/** The words of each value of a choice. */
export const CHOICES = z.registry<Readonly<Record<string, Choice>>>()

const choice = <const Value extends string>(id: string, choices: Readonly<Record<Value, Choice>>) =>
  z
    .enum(Object.keys(choices) as Value[])
    .meta({
      id,
      description: Object.entries<Choice>(choices)
        .map(([value, { hint }]) => `\`${value}\`: ${hint}`)
        .join(' '),
    })
    .register(CHOICES, choices)

/** Which change of a setting a signed-in session does not make alone: its person proves again who they are. */
export const STEP_UPS = {
  changed: 'Any change',
  switched_on: 'Turning it on',
  weakened: 'A choice that does less',
  raised: 'Raising or removing one',
  raised_tenfold: 'Allowing more than ten times as much as before or as by default',
  lowered: 'A lower number',
} as const
export type SettingStepUp = keyof typeof STEP_UPS
const stepUp = (change: SettingStepUp) => ({ stepUp: change })

const seconds = (min: number, max: number) => z.int().min(min).max(max)

export const limitRule = z
  .strictObject({
    max: z.int().min(1).meta({ description: 'The most that is allowed.' }),
    seconds: seconds(1, 604_800).meta({ description: 'The length of the window.' }),
  })
  .meta({
    id: 'LimitRuleInput',
    description:
      'Never more than `max` in any `seconds` seconds. They are counted in parts of a tenth, so a count can hold up to a tenth longer.',
  })

/** Every rule of a list must hold; an empty list limits nothing. Each such list asks for a step-up where it is raised
 *  tenfold (setting-list.ts). */
const rules = z.array(limitRule)
const atMost = (max: number, seconds: number): LimitRule => ({ max, seconds })

/** The longest life of a code follows from it: otp.code-life.ts. */
export const MAX_CODE_TTL_SECONDS = 3_600

const code = z
  .strictObject({
    length: z.int().min(4).max(10).default(6).meta({
      title: 'Digits of a code',
      description:
        'Fewer digits need stricter limits on guesses. With more than 8, Telegram is passed over: it takes 4 to 8.',
      more: 'See [wrong codes](#wrong-codes).',
    }),
    ttl_seconds: seconds(60, MAX_CODE_TTL_SECONDS).default(600).meta({
      title: 'How long a code is valid',
      description: 'Counted from the latest message. A verification lasts at most three times as long.',
      unit: 'duration',
    }),
  })
  .meta({ id: 'CodeSettingsInput', screen: '/settings', description: 'The code.' })

/** In the order in which the Limits screen shows them. */
const limits = z
  .strictObject({
    recipient: rules.default([atMost(5, 600), atMost(20, 86_400)]).meta({
      title: 'Sends to one recipient',
      description:
        'Verifications that are started for one number or address. Server and publishable keys are counted separately.',
      more: 'Addresses of one mailbox are counted together: capitals, a `+tag` and, at Gmail, dots are ignored.',
    }),
    recipient_messages: rules.default([atMost(50, 86_400)]).meta({
      title: 'Messages to one recipient',
      description: 'All messages to one number or address, resends included.',
      more: 'Verifications of server and publishable keys are counted separately.',
    }),
    recipient_verify: rules
      .min(1, 'needs at least one rule: wrong codes must be limited over all verifications of a recipient')
      .default([atMost(20, 3_600)])
      .meta({
        title: 'Wrong codes for one recipient',
        description:
          'Over all verifications of a number or address. At the limit it is locked for the time of the rule: only the first code of a verification is still checked, until as many of those were wrong too. At least one rule is needed.',
        more: 'See [wrong codes](#wrong-codes).',
        values: 'rules, at least one',
      }),
    client_ip: rules.default([atMost(20, 600), atMost(100, 86_400)]).meta({
      title: 'Sends from one client address',
      description:
        'Resends count too. IPv6 addresses are counted by /64; a /56 may have 4 times as many, a /48 16 times, a /40 64 times.',
    }),
    client_ip_reputation_factor: z.number().min(0).max(1).default(0.2).meta({
      title: 'Share for suspicious addresses',
      description: 'The part of the limit per client address that VPNs, proxies, Tor and datacenters get.',
      more: 'The [address lists](address-lists.md) say which these are.',
      unit: 'percent',
    }),
    app_without_client_ip: rules.default([atMost(60, 60)]).meta({
      title: 'Sends without a client address',
      description:
        "Shared by the whole app, for sends that do not give the user's address. Send `client_ip`, or raise this.",
      more: 'Server and publishable keys are counted separately.',
    }),
    app_hooks: rules.default([atMost(600, 60)]).meta({
      title: 'Codes of your own login',
      description:
        "Shared by the whole app, for codes that your login hands to a receiver without the user's address. They do not count as sends without a client address.",
      more: '[Logins](logins.md).',
    }),
    app: rules.default([atMost(6_000, 60)]).meta({
      title: 'Sends of the whole app',
      description:
        'By server keys, with a client address, and all their resends. One client address gets at most a quarter of it.',
      more: 'What an address has used up is refused with the scope `client_ip`. An IPv6 address counts by its /64.',
    }),
    app_publishable: rules.default([atMost(60, 60), atMost(20_000, 86_400)]).meta({
      title: 'Sends by devices',
      description:
        'By publishable keys, resends included. A flood by devices does not stop your servers. One client address gets at most a quarter of it.',
      more: 'They do not count towards `limits.app`, with or without an address.',
    }),
  })
  .meta({ id: 'LimitSettingsInput', screen: '/limits', description: 'Every rule of a list must hold.' })

/** A million units of the currency. */
const MAX_WORTH_MICROS = 1e12

const providerRule = choice('ProviderRule', {
  listed: {
    label: 'As listed',
    hint: 'Providers are tried in the order of the Providers screen.',
  },
  best: {
    label: 'The best first',
    hint: 'In each country, the provider whose messages are approved most often usually comes first. The others keep a small share, so that a change is noticed.',
  },
})

const routing = z
  .strictObject({
    default: channelOrder.default(['sms', 'whatsapp', 'telegram', 'email']).meta({
      title: 'Default order',
      description: 'The order in which channels are tried.',
      more: "A channel that is not in it is used only if the call names it. An empty order refuses every send, and the app's `warnings` name it.",
      values: 'channels, each once',
    }),
    countries: z.record(country, channelOrder).default({}).meta({
      title: 'Orders by country',
      description: 'By ISO 3166-1 alpha-2 code. Each replaces the default order.',
      values: '`{"GB": ["whatsapp", "sms"]}`',
    }),
    providers: providerRule.default('listed').meta({
      title: 'Which provider of a channel comes first',
      more: '[Learned routes](routes.md).',
    }),
    worth_micros: z.int().min(0).max(MAX_WORTH_MICROS).default(0).meta({
      title: 'What an approval is worth',
      description:
        'A cheaper provider comes first where what it saves is worth more than the approvals it loses. 0: cost does not count.',
      more: 'In micro-units. It counts only with `best`, and where providers have `cost_micros`: [learned routes](routes.md#cost).',
      unit: 'amount',
    }),
  })
  .meta({
    id: 'RoutingSettingsInput',
    screen: '/routing',
    description: 'The order in which channels and providers are tried.',
  })

const enabled = z.boolean().default(true).meta({ title: 'Whether the channel may be used' })

const channelSwitch = z
  .strictObject({ enabled })
  .meta({ id: 'ChannelSwitchInput', description: 'Whether a channel may be used.' })

const sms = z
  .strictObject({
    enabled,
    domains: z
      .array(domain)
      .max(5)
      .default([])
      .meta({
        title: 'Domains',
        description: 'The text ends with `@domain #code`, so that browsers can fill in the code on your pages.',
        more: 'The first one is used, unless the send names another as `domain`, or comes from a page of another.',
        values: 'at most 5 domains',
        example: ['example.com'],
      }),
    android_hashes: z
      .array(androidHash)
      .max(5)
      .default([])
      .meta({
        title: 'Android hashes',
        description: 'The 11 characters that let your Android app read the message by itself (SMS Retriever).',
        more: 'The text ends with the one that the send names as `app_hash`, and with no line for browsers then. Without domains it ends with the first one otherwise.',
        values: 'at most 5 of 11 base64 characters',
        example: ['FA+9qCX9VSu'],
      }),
  })
  .meta({ id: 'SmsSettingsInput', description: 'Text messages.' })

export const whatsAppMode = choice('WhatsAppMode', {
  template: {
    label: 'Template',
    hint: 'The code is sent in a message template that Meta has approved. The user does nothing.',
  },
  link_code: {
    label: 'Link, then the code',
    hint: 'The user opens a link and sends the prepared message; the reply in the chat contains the code.',
  },
  link_inbound: {
    label: 'Link only',
    hint: 'The user opens a link and sends the prepared message, which approves the verification. No code is typed. Publishable keys cannot use it.',
  },
})

const whatsapp = z
  .strictObject({
    enabled,
    mode: whatsAppMode.default('template').meta({ title: 'WhatsApp mode' }),
    business_number: phoneNumber
      .nullable()
      .default(null)
      .meta({
        ...stepUp('changed'),
        title: 'Business number',
        description: 'The number that the link opens. The link modes need it.',
        more: 'A link mode without it is refused (422, or the start fails).',
        values: 'an E.164 number',
        example: '+15550001111',
      }),
  })
  .meta({ id: 'WhatsAppSettingsInput', description: 'WhatsApp.' })

const channels = z
  .strictObject({
    sms: sms.prefault({}),
    email: channelSwitch.prefault({}),
    telegram: channelSwitch.prefault({}),
    whatsapp: whatsapp.prefault({}),
  })
  .meta({ id: 'ChannelSettingsInput', screen: '/routing', description: 'Each channel of the app.' })

/** Only new lines control a message. */
const template = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(
      /^[^\p{Cc}\p{Cs}]*(?:\n[^\p{Cc}\p{Cs}]*)*$/u,
      'must have no control characters but line breaks, and no half characters',
    )

const ownText = z
  .strictObject({
    text: template(1_000).meta({ description: 'With `{code}`, and `{app}` and `{minutes}` where they are wanted.' }),
  })
  .meta({ id: 'OwnTextInput', description: 'A text in one language.' })

const ownMail = z
  .strictObject({
    text: template(10_000).meta({ description: 'The plain part. With `{code}`.' }),
    subject: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must have no line break, and no half characters')
      .nullable()
      .default(null)
      .meta({ description: 'Without one, the built-in subject.' }),
    html: template(50_000)
      .nullable()
      .default(null)
      .meta({ description: 'The HTML part, with `{code}`. Without one, it is made of the text.' }),
  })
  .meta({ id: 'OwnMailInput', description: 'A mail in one language.' })

const TEXT_RULES = 'Languages without one have the built-in text. [Own texts](#own-texts).'

const texts = z
  .strictObject({
    sms: z
      .record(locale, ownText)
      .default({})
      .meta({
        ...stepUp('changed'),
        title: 'Own SMS texts',
        description: 'By language. With code, app name and domain line a text takes two segments at most.',
        more: TEXT_RULES,
        values: '`{"en": {"text": "{code} is your code for {app}."}}`',
      }),
    email: z
      .record(locale, ownMail)
      .default({})
      .meta({
        ...stepUp('changed'),
        title: 'Own mails',
        description: 'By language: text, subject and HTML.',
        more: TEXT_RULES,
        values: '`{"en": {"text": "…", "subject": "…", "html": "…"}}`',
      }),
    whatsapp: z
      .record(locale, ownText)
      .default({})
      .meta({
        ...stepUp('changed'),
        title: 'Own WhatsApp texts',
        description: 'By language: the reply with the code in the mode `link_code`. Templates are kept at Meta.',
        more: TEXT_RULES,
        values: '`{"en": {"text": "Your code is {code}."}}`',
      }),
  })
  .meta({ id: 'TextSettingsInput', screen: '/settings', description: 'Own texts, by channel and language.' })

const fraudGuardMode = choice('FraudGuardMode', {
  off: { label: 'Off', hint: 'It looks at nothing and records nothing.' },
  record: {
    label: 'Record',
    hint: 'It refuses nothing. It records what it would refuse, so that you can look before you turn it on.',
  },
  on: {
    label: 'On',
    hint: 'It refuses messages that look like SMS pumping, and records each with its reasons.',
  },
})

const fraudGuardAction = choice('FraudGuardAction', {
  refuse: { label: 'Refuse the message', hint: 'The send is answered with 429 and the scope fraud_guard.' },
  free_channel: {
    label: 'Move it to a free channel',
    hint: 'It takes the first other channel of the order that has no price. If there is none, it is refused.',
  },
})

const fraudGuard = z
  .strictObject({
    // Without one, `publishable_send` decides.
    mode: fraudGuardMode.optional().meta({
      ...stepUp('weakened'),
      title: 'Fraud guard',
      more: 'An app that has not set it, or has reset it with `null`, gets `on` while `publishable_send` is on, and shows that value. [What the guard does](fraud.md).',
    }),
    action: fraudGuardAction.default('refuse').meta({ title: 'What happens to a suspicious message' }),
  })
  .meta({
    id: 'FraudGuardSettingsInput',
    screen: '/limits',
    description: 'What is done about messages that look like SMS pumping.',
  })

/** Named as libphonenumber names them. */
export const refusableNumberKind = choice('RefusableNumberKind', {
  premium_rate: { label: 'Premium rate', hint: 'A call to it pays its owner.' },
  shared_cost: { label: 'Shared cost', hint: 'Caller and owner share the price of a call.' },
  uan: { label: 'Company-wide number', hint: 'One number for all offices of a company (UAN).' },
  pager: { label: 'Pager', hint: 'It shows short notes.' },
  voicemail: { label: 'Voicemail', hint: 'A mailbox.' },
  toll_free: { label: 'Toll-free', hint: 'Calls to it cost the caller nothing.' },
  personal_number: { label: 'Personal number', hint: 'It is forwarded to its owner, often at a high price.' },
  voip: { label: 'VoIP', hint: 'A number of an internet service, often easy to get by the hundred.' },
})

const fixedLineUse = choice('FixedLineUse', {
  use: { label: 'Every channel', hint: 'Text messages too: in some countries fixed lines show or read them out.' },
  skip_sms: {
    label: 'Every channel but SMS',
    hint: 'Most fixed lines cannot show a text message, which is paid for all the same.',
  },
})

const numberKinds = z
  .strictObject({
    refused: z
      .array(refusableNumberKind)
      .refine(kinds => new Set(kinds).size === kinds.length, 'names a kind twice')
      .default(['premium_rate', 'shared_cost', 'uan', 'pager', 'voicemail'])
      .meta({
        ...stepUp('changed'),
        title: 'Refused kinds of numbers',
        description: 'A send to such a number is refused with `InvalidRecipientError`, and a resend too.',
        more: 'By the numbering plans that libphonenumber knows.',
        values: 'kinds, each once',
      }),
    fixed_line: fixedLineUse.default('use').meta({
      title: 'Channels for fixed lines',
      more: 'A number that may be a mobile or a fixed line, as in the USA, counts as a mobile.',
    }),
  })
  .meta({
    id: 'NumberKindSettingsInput',
    screen: '/limits',
    description: 'What is done about numbers that are no mobiles.',
  })

const publishableChallenge = choice('PublishableChallenge', {
  off: { label: 'Never', hint: 'Devices send without solving anything.' },
  risk: {
    label: 'When a send looks risky',
    hint: 'In live mode: when the guard is suspicious, devices send more than usual, or the device has no address.',
  },
  always: { label: 'Always', hint: 'In test mode too, so that you can try your pages and apps.' },
})

const challengeBy = choice('ChallengeBy', {
  pow: {
    label: 'A proof of work',
    hint: 'The device computes for a moment. It needs no vendor, and works in pages, apps and programs.',
  },
  turnstile: {
    label: 'Turnstile',
    hint: 'The widget of Cloudflare, in a page. It tells people from programs, which a proof of work cannot.',
  },
  hcaptcha: { label: 'hCaptcha', hint: 'The widget of hCaptcha, in a page. It tells people from programs too.' },
})

const challenge = z
  .strictObject({
    by: challengeBy.default('pow').meta({
      title: 'What a device solves',
      stepUp: 'weakened',
      more: 'The widgets need `site_key`, `secret` and at least one of `allowed_origins`: the vendor names the host of the page, which must be one of theirs. Where the vendor does not answer within three seconds, a proof of work is asked for instead. [Which to choose](challenges.md#which-to-choose).',
    }),
    site_key: siteKey.nullable().default(null).meta({
      title: 'Site key',
      stepUp: 'changed',
      description: 'Of the widget, as the vendor shows it. Pages get it.',
      values: 'a text without spaces',
      example: '0x4AAAAAAA…',
    }),
    secret: widgetSecret.nullable().default(null).meta({
      title: 'Secret key',
      stepUp: 'changed',
      description: 'Of the widget, as the vendor shows it. It is stored sealed, and shown as a fingerprint.',
      more: 'The fingerprint stands for the stored secret in a change, too.',
      values: 'a text without spaces',
    }),
    verify_url: httpsAddress.nullable().default(null).meta({
      title: 'Address of the check',
      stepUp: 'changed',
      description: "Where tokens are checked, if not at the vendor's own address.",
      more: 'It takes what the vendor takes, and answers as the vendor does. Private addresses must be in `ALLOW_PRIVATE_TARGETS`.',
      values: 'an https URL',
    }),
  })
  .meta({ id: 'ChallengeSettingsInput', screen: '/limits', description: 'What a device solves.' })

export const declaredSettings = z
  .strictObject({
    locale: locale.default('en').meta({
      screen: '/settings',
      title: 'Default language',
      description: 'For sends that name no language, or one that has no text.',
      values: 'a BCP 47 tag',
    }),
    code: code.prefault({}),
    verify_attempts: z.int().min(1).max(10).default(5).meta({
      screen: '/settings',
      title: 'Wrong codes per verification',
      description: 'The last one ends the verification.',
      more: 'A code of 4 digits allows at most 5, and needs lower limits: [wrong codes](#wrong-codes).',
    }),
    send_attempts: z.int().min(1).max(20).default(5).meta({
      screen: '/settings',
      title: 'Messages per verification',
      description: 'The send and its resends.',
    }),
    resend_cooldown_seconds: z.array(seconds(0, 3_600)).min(1).default([30, 60, 120]).meta({
      screen: '/settings',
      title: 'Waits between messages',
      description: 'After the 1st, 2nd, … message. The last one repeats.',
      unit: 'duration',
    }),
    token_ttl_seconds: seconds(1, 3_600).default(600).meta({
      screen: '/settings',
      title: 'How long a device’s token is valid',
      description: 'Your server must exchange it within this time.',
      unit: 'duration',
    }),
    idempotency_ttl_seconds: seconds(60, 604_800).default(86_400).meta({
      screen: '/settings',
      title: 'How long an idempotency key is remembered',
      description: 'During this time a repeated send with the same key sends nothing new.',
      unit: 'duration',
    }),
    limits: limits.prefault({}),
    routing: routing.prefault({}),
    channels: channels.prefault({}),
    texts: texts.prefault({}),
    text_links: z
      .boolean()
      .default(false)
      .meta({
        ...stepUp('switched_on'),
        title: 'Links in own texts',
        description: 'Whether an own text of SMS or WhatsApp may have a link. Carriers block many messages with links.',
        screen: '/settings',
      }),
    blocked_countries: z.array(country).default([]).meta({
      screen: '/limits',
      title: 'Blocked countries',
      description: 'Sends and resends to numbers of these countries are refused.',
      values: 'ISO 3166-1 alpha-2 codes',
    }),
    allowed_countries: z.array(country).nullable().default(null).meta({
      screen: '/limits',
      title: 'Allowed countries',
      description: 'If given, only numbers of these countries are accepted, unless they are blocked too.',
      more: 'Numbers that belong to no country (satellites, international networks) are then refused. `[]` accepts none.',
      values: 'ISO 3166-1 alpha-2 codes, or null',
    }),
    number_kinds: numberKinds.prefault({}),
    spend_caps: z
      .record(countryOrAll, z.int().min(0))
      .default({})
      .meta({
        screen: '/limits',
        ...stepUp('raised'),
        title: 'Spend caps',
        description: 'Micro-units per UTC day and country; `*` is for each country without a cap of its own.',
        more: 'See [spend caps](fraud.md#spend-caps).',
        values: '`{"GB": 5000000, "*": 500000}`',
      }),
    fraud_guard: fraudGuard.prefault({}),
    auto_fallback: z.boolean().default(false).meta({
      screen: '/routing',
      title: 'Automatic fallback',
      description: 'When a message finally fails, the next channel is tried at once, without a resend.',
    }),
    reuse_pending: z.boolean().default(false).meta({
      screen: '/settings',
      title: 'A second send is a resend',
      description:
        'While a verification of the recipient is pending, a send resends it, by the rules of a resend, and starts no other.',
      more: 'It holds for sends by server keys, and for verifications of the same app and mode that server keys started; not for those that a WhatsApp message approves. Each send gets an `otp_id` of its own, with guesses and `metadata` of its own: see [ids that share a verification](api.md#ids-that-share-a-verification). In the cooldown the send is refused with 429 `ResendCooldownError`, and once its sends are spent with 409 `ResendNotAllowedError`; its `locale` and `client_ip` are not used. It counts in `limits.recipient` as any other send. A repeated idempotency key still gets its first answer.',
    }),
    publishable_send: z.boolean().default(false).meta({
      screen: '/settings',
      title: 'Publishable keys may send in live mode',
      description:
        'Test keys always may. While this is on, the fraud guard refuses unless you have set it otherwise: see Limits and fraud.',
    }),
    // Without one, `publishable_send` decides.
    publishable_challenge: publishableChallenge.optional().meta({
      screen: '/limits',
      ...stepUp('weakened'),
      title: 'When a device must solve a challenge',
      more: 'An app that has not set it, or has reset it with `null`, gets `risk` while `publishable_send` is on, and shows that value. [How challenges work](challenges.md).',
    }),
    challenge: challenge.prefault({}),
    allowed_origins: z.array(origin).default([]).meta({
      screen: '/settings',
      title: 'Allowed origins',
      description: 'The web pages that may use publishable keys, such as https://shop.example. Empty: all.',
      more: 'Write them exactly as browsers send them; there are no wildcards.',
      values: '`["https://shop.example"]`',
    }),
    retention_days: z
      .int()
      .min(1)
      .max(3_650)
      .default(30)
      .meta({
        screen: '/privacy',
        ...stepUp('lowered'),
        title: 'Days that verifications are kept',
        description:
          'In test mode, 3 days at most. A shorter time also applies to verifications that are already stored, a day after it was set.',
        more: 'Only owners make it shorter, and all of them are told; until it is in force, a time that is not shorter undoes it. Their attempts and messages are kept for the same time, and events at least until they can no longer be sent: [privacy](privacy.md).',
      }),
  })
  .meta({ id: 'AppSettingsInput', description: 'The settings of an app, complete with their defaults.' })

/** The settings with the defaults that depend on other settings. */
export function withDerivedDefaults(settings: z.output<typeof declaredSettings>) {
  const { publishable_send, fraud_guard } = settings
  // Anyone can read a publishable key, so an app that lets it send is guarded unless its operator decides otherwise.
  const mode = fraud_guard.mode ?? (publishable_send ? 'on' : 'record')
  const publishable_challenge = settings.publishable_challenge ?? (publishable_send ? 'risk' : 'off')
  return { ...settings, fraud_guard: { mode, action: fraud_guard.action }, publishable_challenge }
}

/** An app's settings with all defaults resolved, as every part of the system reads them. */
export type AppSettings = ReturnType<typeof withDerivedDefaults>
export type LimitRule = z.output<typeof limitRule>
export type RoutingSettings = AppSettings['routing']
export type SmsSettings = AppSettings['channels']['sms']
export type RefusableNumberKind = z.output<typeof refusableNumberKind>
/** A mobile number, and one that may be a mobile or a fixed line, has none of these. */
export type NumberKind = RefusableNumberKind | 'fixed_line'
export type WhatsAppMode = z.output<typeof whatsAppMode>
