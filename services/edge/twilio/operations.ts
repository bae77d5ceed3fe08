// The operations of Twilio's API. Each is declared once: its method and path, what it takes, answers and
// refuses. The declaration is what router.ts serves, and its entry in an OpenAPI document of its own, docs/openapi-twilio.json: the other
// document promises JSON bodies, problems of RFC 9457 and bearer keys for every operation, and the reference, its
// samples and our clients are made from that promise.
import { z } from 'zod'
import type { ApiOperation, ApiParameter, ApiRefusal } from '../../../infra/openapi/operation.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { rateLimitAnswerHeaders, withRateLimit } from '../openapi/parameters.ts'
import { bodyOf, TWILIO_ERRORS, type TwilioError } from './errors.ts'
import * as schemas from './schemas.ts'

export const TWILIO_ROOT = '/compat/twilio'
const SERVICE = `${TWILIO_ROOT}/v2/Services/{service_sid}`

const SIDS = {
  sid: 'VE0199d0e8b1c93b0e8b5e6a5d6f3c2c0c',
  service_sid: 'VA0199d0e8b1c93b0e8b5e6a5d6f3c2c0a',
  account_sid: 'AC0199d0e8b1c93b0e8b5e6a5d6f3c2c0b',
}
const time = '2030-01-01T12:00:00Z'
const shared = {
  ...SIDS,
  to: SAMPLE_NUMBER,
  channel: 'sms',
  amount: null,
  payee: null,
  date_created: time,
  date_updated: time,
}
const verification: schemas.VerificationResource = {
  ...shared,
  status: 'pending',
  valid: false,
  lookup: {},
  send_code_attempts: [{ attempt_sid: 'VL0199d0e8b1c93b0e8b5e6a5d6f3c2c0d', channel: 'SMS', time }],
  sna: null,
  url: `https://otp.example.com${SERVICE.replace('{service_sid}', SIDS.service_sid)}/Verifications/${SIDS.sid}`,
}
const checked: schemas.CheckResource = { ...shared, status: 'approved', valid: true, sna_attempts_error_codes: [] }

const refusalOf = (error: TwilioError, when: string): ApiRefusal => ({
  status: error.status,
  type: String(error.code),
  when,
  example: bodyOf(error),
})
const ofHttp = (status: number, message: string): ApiRefusal =>
  refusalOf({ code: 20_000 + status, status, message }, message)

const EVERY_REFUSAL = [
  refusalOf(TWILIO_ERRORS.authenticate, 'The key or the account SID is wrong.'),
  refusalOf(TWILIO_ERRORS.notFound, 'There is no such service or verification, or it is over.'),
  ofHttp(500, 'A fault of ours.'),
  ofHttp(503, 'The service cannot answer now.'),
]
const FORM_REFUSALS = [
  refusalOf(TWILIO_ERRORS.invalid, 'A parameter is missing or not valid.'),
  ofHttp(400, 'The body is not UTF-8.'),
  ofHttp(413, 'The body is too large.'),
  ofHttp(415, 'The body is no form.'),
]

const serviceParameter: ApiParameter = {
  name: 'service_sid',
  in: 'path',
  description: 'The app: `VA…`.',
  schema: z.string(),
  example: SIDS.service_sid,
}
const nameParameter: ApiParameter = {
  name: 'name',
  in: 'path',
  description: 'A verification (`VE…`), or the recipient whose latest one is meant.',
  schema: z.string(),
  example: SIDS.sid,
}

interface Declaration extends Pick<ApiOperation, 'id' | 'method' | 'path' | 'summary' | 'description'> {
  form?: { schema: z.ZodObject; example: Record<string, string> }
  answer: Pick<ApiOperation['answers'][number], 'headers'> & { status: 200 | 201; schema: z.ZodType; example: unknown }
  refusals?: readonly ApiRefusal[]
}

const operation = ({
  form,
  answer: { example, ...answer },
  refusals = [],
  path,
  ...rest
}: Declaration): ApiOperation => ({
  ...rest,
  path: `${SERVICE}${path}`,
  security: [['basic']],
  parameters: path.includes('{name}') ? [serviceParameter, nameParameter] : [serviceParameter],
  request: form ? { ...form, required: true, mediaType: 'application/x-www-form-urlencoded' } : null,
  answers: [{ ...answer, description: rest.summary, examples: { answer: example } }],
  refusals: [...EVERY_REFUSAL, ...(form ? FORM_REFUSALS : []), ...withRateLimit(refusals)],
})

export const TWILIO_OPERATIONS = {
  create: operation({
    id: 'CreateVerification',
    method: 'post',
    path: '/Verifications',
    summary: 'Start a verification',
    description: 'While one of the recipient is pending, it is sent again, within the rules of a resend.',
    form: { schema: schemas.newVerification, example: { To: SAMPLE_NUMBER, Channel: 'sms', DeviceIp: '203.0.113.7' } },
    answer: {
      status: 201,
      headers: rateLimitAnswerHeaders,
      schema: schemas.verificationResource,
      example: verification,
    },
    refusals: [
      refusalOf(TWILIO_ERRORS.customCode, 'It brings a code: codes are made here.'),
      refusalOf(TWILIO_ERRORS.sendsSpent, 'All sends of the verification are spent, or too many for the recipient.'),
      refusalOf(TWILIO_ERRORS.cooldown, 'Created again in the cooldown.'),
      refusalOf(TWILIO_ERRORS.tooMany, 'Another limit was hit.'),
      refusalOf(TWILIO_ERRORS.channelOff, 'The channel is off, or has no provider for the country.'),
      refusalOf(TWILIO_ERRORS.blocked, 'Blocked by the fraud guard or the address lists.'),
      refusalOf(TWILIO_ERRORS.country, 'The country is blocked.'),
      refusalOf(TWILIO_ERRORS.noFunds, 'The balance is not enough.'),
    ],
  }),
  fetch: operation({
    id: 'FetchVerification',
    method: 'get',
    path: '/Verifications/{name}',
    summary: 'Look a verification up',
    description: 'Also one that is over.',
    answer: { status: 200, schema: schemas.verificationResource, example: verification },
  }),
  update: operation({
    id: 'UpdateVerification',
    method: 'post',
    path: '/Verifications/{name}',
    summary: 'Cancel a verification',
    description: 'Approving by hand is refused.',
    form: { schema: schemas.verificationChange, example: { Status: 'canceled' } },
    answer: { status: 200, schema: schemas.verificationResource, example: { ...verification, status: 'canceled' } },
    refusals: [refusalOf(TWILIO_ERRORS.checksSpent, 'All its checks are spent.')],
  }),
  check: operation({
    id: 'CreateVerificationCheck',
    method: 'post',
    path: '/VerificationCheck',
    summary: 'Check a code',
    description: 'A wrong code is an answer: `valid` is false.',
    form: { schema: schemas.newCheck, example: { To: SAMPLE_NUMBER, Code: '123456' } },
    answer: { status: 201, headers: rateLimitAnswerHeaders, schema: schemas.checkResource, example: checked },
    refusals: [refusalOf(TWILIO_ERRORS.checksSpent, 'All its checks are spent, or too many codes were wrong.')],
  }),
} satisfies Record<string, ApiOperation>
