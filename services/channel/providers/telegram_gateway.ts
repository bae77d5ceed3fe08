// Codes by the Telegram Gateway. In: a message, of which only the code is sent: Telegram writes the text. Out: the id of the verification
// request.
//
// `checkSendAbility` is not called first. Telegram charges for it as soon as it confirms, and refunds only messages that were sent and not
// delivered within their `ttl`. Sending at once refuses an unreachable number as well, free of charge.
import { Buffer } from 'node:buffer'
import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { telegram_gateway } from '../../domain/tenancy/provider-types/telegram_gateway.ts'
import {
  BadSignature,
  type Callback,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
} from '../provider.ts'
import { failureBy, isRecentTimestamp, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import {
  faultFromStatus,
  isListed,
  isSuccess,
  postJson,
  retryAfterMs,
  successWithoutId,
  type VendorResponse,
  vendorAnswer,
} from './vendor-http.ts'

export function createTelegramProvider(
  { config }: { config: ProviderConfigs['telegram_gateway'] },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { token, base_url } = config
  const url = `${base_url}/sendVerificationMessage`
  const headers = { authorization: `Bearer ${token}` }
  const receiptsUrl = callbackUrl !== null && isValidCallbackUrl(callbackUrl) ? callbackUrl : null

  const provider: Provider = {
    async send({ recipient, code, delivery_id, expires_at }, signal) {
      const body = {
        phone_number: recipient,
        code,
        ttl: ttlOf(expires_at, clock.now()),
        payload: delivery_id,
        ...(receiptsUrl === null ? {} : { callback_url: receiptsUrl }),
      }
      const answer = await postJson(outbound, { url, headers, body, signal })
      return { reference: acceptedReference(answer, clock.now()), httpStatus: answer.status }
    },
  }
  if (receiptsUrl === null) return provider
  return {
    ...provider,
    parseCallback(callback, now) {
      if (!isSigned(callback, token, now)) throw new BadSignature()
      const { request_id, payload, delivery_status } = parseCallbackBody(REQUEST_STATUS, callback.body)
      const name = delivery_status?.status ?? ''
      return receiptItems({ delivery_id: payload || null, reference: request_id }, STATUSES.get(name), () =>
        failureBy(telegram_gateway.errors, name, null),
      )
    },
  }
}

const MAX_URL_BYTES = 256

/** Telegram refuses the whole message if it cannot call this address. */
const isValidCallbackUrl = (url: string): boolean =>
  url.startsWith('https://') && Buffer.byteLength(url) <= MAX_URL_BYTES

const MIN_TTL_S = 30
const MAX_TTL_S = 3_600

/** Telegram withdraws a message that is not delivered within its `ttl`, and refunds the fee. */
const ttlOf = (expires_at: number, now: number): number =>
  Math.min(Math.max(Math.floor((expires_at - now) / 1000), MIN_TTL_S), MAX_TTL_S)

const ACCEPTED = z.object({ ok: z.literal(true), result: z.object({ request_id: z.string().min(1).max(200) }) })
const ERROR_BODY = z.object({ ok: z.literal(false), error: z.string().regex(/^[A-Z][A-Z0-9_]{0,60}$/) })

function acceptedReference(answer: VendorResponse, now: number): string {
  const accepted = ACCEPTED.safeParse(answer.json)
  if (isSuccess(answer) && accepted.success) return accepted.data.result.request_id
  const error = ERROR_BODY.safeParse(answer.json).data?.error
  if (error !== undefined) throw faultFromError(error, answer) ?? faultFromStatus(answer, now, withoutNumbers(error))
  if (isSuccess(answer) && !isErrorBody(answer.json)) throw successWithoutId(answer)
  throw faultFromStatus(answer, now)
}

/** Error names are logged, and a number in one may be a code or a recipient. */
const withoutNumbers = (name: string): string => name.replaceAll(/\d+/g, 'n')

const isErrorBody = (json: unknown): boolean => z.object({ ok: z.literal(false) }).safeParse(json).success

/** Any other error is the provider's fault: a bad token, an empty balance, a wrong parameter. */
function faultFromError(error: string, response: VendorResponse): Error | null {
  const answer = vendorAnswer(response, withoutNumbers(error))
  if (isListed(telegram_gateway.errors.recipient, error)) return new RecipientFault(`it answered ${error}`, { answer })
  // An earlier request of ours has sent the message.
  if (error === 'MESSAGE_ALREADY_SENT') return new UnknownOutcome(`it answered ${error}`, { answer })
  const [, seconds] = /^FLOOD_WAIT(?:_(\d{1,9}))?$/.exec(error) ?? []
  return seconds === undefined
    ? null
    : new ProviderFault('it answered FLOOD_WAIT', { answer, retryAfterMs: retryAfterMs(seconds, 0) })
}

const REQUEST_STATUS = z.object({
  request_id: z.string().min(1).max(200),
  payload: z.string().max(256).optional(),
  delivery_status: z.object({ status: z.string() }).optional(),
})

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['expired', 'failed'],
  ['revoked', 'failed'],
])

/** Hex HMAC-SHA256 of the time, a line feed and the body, keyed with the token's SHA-256. */
function isSigned({ headers, body }: Callback, token: string, now: number): boolean {
  const { 'x-request-signature': signature, 'x-request-timestamp': timestamp } = headers
  if (signature === undefined || timestamp === undefined || !isRecentTimestamp(timestamp, now)) return false
  const key = createHash('sha256').update(token).digest()
  const expected = createHmac('sha256', key).update(`${timestamp}\n`).update(body).digest('hex')
  return isSameSecret(signature.toLowerCase(), expected)
}
