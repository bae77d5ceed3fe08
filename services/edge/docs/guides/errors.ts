// Every type of error, and what to do about it.
import { errorAnchor, errorPage } from '../../../../infra/http/problem.ts'
import type { OpenApiDocument } from '../../../../infra/openapi/document.ts'
import { resolveResponse } from '../../../../infra/openapi/document.ts'
import type { ErrorType } from '../../../../machines/errors.ts'
import { jsonBlock } from '../code-block.ts'
import { html, paragraphs, prose } from '../html.ts'
import { besides, heading, table } from '../layout.ts'
import { membersList } from '../members.ts'
import type { Guide } from './guide.ts'

const WHAT_TO_DO: Readonly<Record<ErrorType | 'HTTPException', string>> = {
  HTTPException: [
    'A refusal of HTTP itself: decide by `status`.',
    '400: the body is not JSON.',
    '401: check the key, its kind and its mode.',
    '403: the role is too low.',
    '404: there is nothing here, or it is not yours. Of an exchange: start another verification.',
    '409: another change came first, or the state does not allow it. Read again.',
    '413, 415: send less, and send `application/json`.',
    '500: a fault of ours. Report its `request_id`.',
  ].join('\n'),
  ValidationError: 'Correct the members that `errors` names, by their `path`. The same request will be refused again.',
  InvalidRecipientError:
    'Ask the user for another number or address. Numbers are E.164: a plus, the country, the number. A number of a kind that the app refuses, such as premium rate, is named in `detail`.',
  InvalidIdempotencyKeyError: 'Use an idempotency key of at most 128 characters.',
  NoEnabledChannelError:
    'Enable a channel that reaches this kind of recipient, and give it a provider. A server key reads in `channels` what each channel lacks; [Explain the route](#explainRoute) says the same.',
  GeoBlockedError:
    'The app blocks this country. Ask for another number, or change `blocked_countries` and `allowed_countries`.',
  RecipientBlockedError:
    'Do not retry. The person wrote STOP: show them how to write START, or ask for another number. A server key reads in `channels` where; an owner or a developer finds it in the list of recipients.',
  IpReputationBlockedError: 'Do not retry. The address is on the list of abusive ones.',
  InsufficientFundsError: 'Credit the company, then send again.',
  RateLimitExceededError: 'Wait `retry_after` seconds. `scope` names [the limit](#limits). Do not retry in a loop.',
  ResendCooldownError: 'Wait `retry_after` seconds; show the user a countdown to `resend_at`.',
  ResendNotAllowedError: 'Decide by `cause`: name another channel, or start another verification.',
  OtpNotFoundError: 'Check the id, and that the key is of the same app and mode as the key that sent.',
  OtpNotPendingError: 'It has ended; `otp_status` says how. Start another verification if it was not approved.',
  OtpExpiredError: 'Start another verification.',
  VerifyNotAllowedError:
    'Decide by `cause`: one is approved by a WhatsApp message, so wait for the event; the other was started by a publishable key, so verify there and exchange the token.',
  PublishableSendDisabledError: 'Send from your backend, or set `publishable_send` of the app.',
  OriginNotAllowedError: 'Add the origin of the page to `allowed_origins` of the app: [how](#refused-origin).',
  ChallengeRequiredError:
    'Solve `challenge` and repeat the call with the header `challenge-solution`: [how](#challenges).',
  IdempotencyConflictError:
    'Of the admin API: the key named a credit of another amount, so nothing was entered. Use a new key for a new credit.',
  StepUpRequiredError:
    'Of the admin API, in a session: prove again who you are ([step-up](#stepUp)) in one of the ways in `step_up`, and repeat the call.',
  ServiceUnavailableError:
    'Wait `Retry-After` seconds and repeat the call. It may have been executed: repeat a send with the same idempotency key.',
}

/** What else readers search for, beside the status and the title. */
const KEYWORDS: Readonly<Partial<Record<ErrorType | 'HTTPException', string>>> = {
  HTTPException: '400, 401, 403, 404, 405, 409, 413, 415, 500, unauthorized, forbidden, not found, bad request',
  InsufficientFundsError: 'balance, credit, money',
  OriginNotAllowedError: 'wrong origin, origin blocked',
  ServiceUnavailableError: 'overload, timeout, time-out, down',
  RateLimitExceededError: 'throttled',
  GeoBlockedError: 'country blocked, geo block',
  RecipientBlockedError: 'stop, unsubscribed, opted out, opt-out',
}

/** The statuses and the title under which the document shows each type. */
function knownErrors(document: OpenApiDocument): Map<string, { statuses: Set<number>; title: string }> {
  const found = new Map<string, { statuses: Set<number>; title: string }>()
  const operations = Object.values(document.paths).flatMap(methods => Object.values(methods))
  for (const { responses } of operations)
    for (const response of Object.values(responses)) {
      const examples = resolveResponse(document, response).content?.['application/problem+json']?.examples ?? {}
      for (const [type, { value }] of Object.entries(examples)) {
        const { status, title } = value as { status: number; title: string }
        const known = found.get(type) ?? { statuses: new Set(), title }
        known.statuses.add(status)
        found.set(type, known)
      }
    }
  return found
}

const PROBLEM_EXAMPLE = {
  type: 'RateLimitExceededError',
  title: 'Too many requests',
  status: 429,
  detail: 'Too many sends to this recipient.',
  request_id: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55',
  doc_url: errorPage('RateLimitExceededError'),
  scope: 'recipient',
  retry_after: 42,
}

export const errors: Guide = {
  id: 'errors',
  name: 'Errors',
  about: 'What every refusal looks like, and what to do about it.',
  keywords: 'status codes, problem details, rfc 9457, exceptions, failures',
  render: ({ document }) => {
    const known = knownErrors(document)
    const { schemas } = document.components
    return html`${besides(
      html`${paragraphs(
        'Every error is `application/problem+json` (RFC 9457). Decide by `type`, which never changes, and not by words. Give us the `request_id`: it is in every line of the log about this request, and in the header `X-Request-Id` of every answer.',
        'New types and new members may come: treat a type that you do not know by its status.',
      )}${membersList(schemas.Problem ?? {}, schemas, { anchor: 'problem', use: 'answer', nested: true })}`,
      jsonBlock('An error', PROBLEM_EXAMPLE),
    )}
${heading(2, 'error-types', 'What to do about each type')}
${table(
  ['Type', 'Status', 'Meaning', 'What to do'],
  Object.entries(WHAT_TO_DO).map(([type, whatToDo]) => {
    const { statuses = new Set<number>(), title = '' } = known.get(type) ?? {}
    return {
      id: errorAnchor(type),
      keywords: [...statuses, title, KEYWORDS[type as ErrorType] ?? ''].filter(one => one !== '').join(', '),
      cells: [
        html`<code>${type}</code>`,
        html`${[...statuses].sort((a, b) => a - b).join(', ')}`,
        html`${type === 'HTTPException' ? 'As the status says' : title}`,
        html`${whatToDo.split('\n').map(line => html`<p>${prose(line)}</p>`)}`,
      ],
    }
  }),
)}`
  },
}
