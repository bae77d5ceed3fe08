// The config of each provider type. `base_url` defaults to the vendor's public address. As with settings, a config is stored as it was
// written, and defaults are resolved when it is read. Members that only receipts need are optional: without them there are no receipts.
import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { baseUrl, domain, text, webAddress } from './value-schemas.ts'

const MAX_PEM_LENGTH = 10_000

const pem = z.string().min(1).max(MAX_PEM_LENGTH)

/** Twilio's ids: two letters for the kind of thing, and 32 hex digits. Twilio answers 404 to any other text, at the first message. */
const twilioSid = (prefix: 'AC' | 'MG') =>
  z.string().regex(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`), `must be "${prefix}" followed by 32 hex digits`)

const twilio = z
  .strictObject({
    account_sid: twilioSid('AC'),
    auth_token: text(),
    from: text().nullable().default(null),
    messaging_service_sid: twilioSid('MG').nullable().default(null),
    base_url: baseUrl.default('https://api.twilio.com'),
  })
  .refine(config => config.from !== null || config.messaging_service_sid !== null, {
    path: ['from'],
    message: 'is required, unless there is a messaging_service_sid',
    when: ({ value }) => z.object({ from: z.unknown(), messaging_service_sid: z.unknown() }).safeParse(value).success,
  })

const vonage = z.strictObject({
  application_id: text(),
  private_key: pem,
  signature_secret: text(1_000).nullable().default(null),
  from: text(),
  base_url: baseUrl.default('https://api.nexmo.com'),
})

const HTTP_BODY = { recipient: '{{recipient}}', text: '{{text}}', delivery_id: '{{delivery_id}}' }

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of an HTTP header')
const headerValue = z
  .string()
  .max(8_000)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of an HTTP header')

const http = z.strictObject({
  url: webAddress,
  method: z.enum(['POST', 'PUT', 'PATCH']).default('POST'),
  headers: z.record(headerName, headerValue).default({}),
  body: z.json().default(HTTP_BODY),
  secret: text(1_000).nullable().default(null),
})

const whatsappCloud = z.strictObject({
  phone_number_id: text(),
  access_token: text(2_000),
  app_secret: text().nullable().default(null),
  verify_token: text().nullable().default(null),
  /** The name of the message template. Only the template mode needs one. */
  template: text(512).nullable().default(null),
  /** Null: the verification's locale. */
  template_language: text(20).nullable().default(null),
  api_version: z
    .string()
    .regex(/^v\d{1,3}\.\d{1,3}$/, 'must be a version of the Graph API, such as "v23.0"')
    .default('v23.0'),
  base_url: baseUrl.default('https://graph.facebook.com'),
})

const telegramGateway = z.strictObject({
  token: text(),
  base_url: baseUrl.default('https://gatewayapi.telegram.org'),
})

const SUBMISSION_PORT = 587
const TLS_PORT = 465

const dkim = z.strictObject({ domain, selector: text(), private_key: pem })

const smtp = z
  .strictObject({
    host: z.string().regex(/^[A-Za-z0-9._:-]{1,253}$/, 'must be a host name or an IP address'),
    /** Null: 465 when `secure`, else 587. */
    port: z.int().min(1).max(65_535).nullable().default(null),
    /** TLS from the first byte. Otherwise STARTTLS where the server offers it, and always on the public internet. */
    secure: z.boolean().default(false),
    user: text().nullable().default(null),
    pass: text(1_000).nullable().default(null),
    from: text(320).regex(/^([^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, 'must be an email address'),
    dkim: dkim.nullable().default(null),
  })
  .refine(config => (config.user === null) === (config.pass === null), {
    path: ['pass'],
    message: 'is required with a user, and only then',
  })
  .transform(config => ({ ...config, port: config.port ?? (config.secure ? TLS_PORT : SUBMISSION_PORT) }))

const sandbox = z.strictObject({})

export const CONFIG_SCHEMAS = {
  twilio,
  vonage,
  http,
  whatsapp_cloud: whatsappCloud,
  telegram_gateway: telegramGateway,
  smtp,
  sandbox,
}

/** Of the secret with which a gateway signs its receipts, where it is set anew. */
export const MIN_RECEIPT_SECRET_LENGTH = 16

/** What can be set. A stored config is read without these checks: a key that was stored before there was one must not disable the app's other
 *  providers. */
export const WRITABLE_CONFIG_SCHEMAS = {
  ...CONFIG_SCHEMAS,
  vonage: vonage.extend({
    private_key: pem.refine(isRsaPrivateKey, 'must be an RSA private key in PEM, without a passphrase'),
  }),
}

function isRsaPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
