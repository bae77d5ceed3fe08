// The parameters and the resources of Twilio's API, as schemas. The edge parses with the objects that the document is generated from. Every
// parameter that Twilio documents is here: one that Countersign does not have is refused, with the value that would change something.
import { z } from 'zod'
import { isIpAddress } from '../../../infra/ip-address.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { androidHash } from '../../../machines/settings.values.ts'
import { shownName } from '../../domain/tenancy/value-schemas.ts'
import { hasLink } from '../../domain/texts/own-texts.ts'
import { enteredCode } from '../../domain/verifications/entered-code.ts'
import { metadata } from '../schemas.requests.ts'

const required = () => z.string('is required')
/** A form holds texts, so any value is refused. */
const unsupported = z.null('is not supported').optional()
/** Only the value that says what happens anyway. */
const only = (value: string) => z.literal(value, `must be ${value}: anything else is not supported`).optional()

const friendlyName = shownName(30).refine(
  name => !hasLink(name),
  'must have no link, and no word that phones take for one',
)

const NOT_JSON = 'must be a JSON object of strings'

/** As JSON, as Twilio has them. */
const tags = z
  .string()
  .transform((text, ctx): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      ctx.addIssue({ code: 'custom', message: NOT_JSON })
      return z.NEVER
    }
  })
  .pipe(metadata)

const recipient = { description: 'An E.164 phone number or an email address.', examples: [SAMPLE_NUMBER] }

export const newVerification = z
  .object({
    To: required().meta(recipient),
    Channel: z.enum(['sms', 'whatsapp', 'email', 'auto'], 'must be sms, whatsapp, email or auto').meta({
      description: '`auto`: the routing of the app chooses.',
    }),
    Locale: z.string().optional().meta({ description: 'The language of the message.' }),
    DeviceIp: z.string().refine(isIpAddress, 'must be an IPv4 or IPv6 address').optional().meta({
      description: 'The address of the end user. Sends without one share a much tighter limit.',
    }),
    CustomFriendlyName: friendlyName.optional().meta({ description: "In place of the app's name in the text." }),
    AppHash: androidHash.optional().meta({
      description: "One of the app's `channels.sms.android_hashes`: an SMS ends with it.",
      examples: ['FA+9qCX9VSu'],
    }),
    Tags: tags.optional().meta({
      description: 'The `metadata` of the verification, as JSON.',
      type: 'string',
      examples: ['{"order":"A-1042"}'],
    }),
    RiskCheck: only('enable'),
    EnableSnaClientToken: only('false'),
    CustomCode: unsupported,
    CustomMessage: unsupported,
    SendDigits: unsupported,
    Amount: unsupported,
    Payee: unsupported,
    RateLimits: unsupported,
    ChannelConfiguration: unsupported,
    TemplateSid: unsupported,
    TemplateCustomSubstitutions: unsupported,
  })
  .meta({ id: 'TwilioCreateVerification', description: 'Starts a verification.' })

export const verificationChange = z
  .object({
    Status: z
      .literal('canceled', {
        error: ({ input }) =>
          input === 'approved' ? 'cannot be set to approved: only the right code approves' : 'must be canceled',
      })
      .meta({ description: 'Approving by hand is refused.' }),
  })
  .meta({ id: 'TwilioUpdateVerification', description: 'Cancels a verification.' })

export const newCheck = z
  .object({
    To: z.string().optional().meta(recipient),
    VerificationSid: z.string().optional().meta({ description: 'In place of `To`.' }),
    Code: enteredCode(required()).meta({
      description: 'What the user entered: 4 to 10 digits.',
      minLength: 4,
      examples: ['123456'],
    }),
    SnaClientToken: unsupported,
    Amount: unsupported,
    Payee: unsupported,
  })
  .refine(({ To, VerificationSid }) => To !== undefined || VerificationSid !== undefined, {
    error: 'or `VerificationSid` is required',
    path: ['To'],
  })
  .meta({ id: 'TwilioCreateCheck', description: 'Checks a code.' })

const sid = (prefix: string) => z.string().regex(new RegExp(`^${prefix}[0-9a-f]{32}$`))
/** Without milliseconds: Twilio's Python library reads no others. */
const time = () => z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

const shared = {
  sid: sid('VE'),
  service_sid: sid('VA'),
  account_sid: sid('AC'),
  to: z.string(),
  channel: z.string().meta({ description: 'The channel that it is on: `sms`, `whatsapp`, `telegram` or `email`.' }),
  status: z.enum(['pending', 'approved', 'canceled', 'max_attempts_reached', 'expired', 'failed']),
  valid: z.boolean().meta({ description: 'Whether it is approved.' }),
  amount: z.null(),
  payee: z.null(),
  date_created: time(),
  date_updated: time(),
}

export const verificationResource = z
  .object({
    ...shared,
    lookup: z.object({}),
    send_code_attempts: z.array(z.object({ attempt_sid: sid('VL'), channel: z.string(), time: time() })),
    sna: z.null(),
    url: z.string(),
  })
  .meta({ id: 'TwilioVerification', description: 'A verification.' })

export const checkResource = z
  .object({ ...shared, sna_attempts_error_codes: z.array(z.string()) })
  .meta({ id: 'TwilioVerificationCheck', description: 'What became of a code.' })

export const errorResource = z
  .object({ code: z.int(), message: z.string(), more_info: z.string(), status: z.int() })
  .meta({ id: 'TwilioError', description: 'Every error.' })

export type VerificationResource = z.output<typeof verificationResource>
export type CheckResource = z.output<typeof checkResource>
