// Codes by the Telegram Gateway. In: a message, of which Telegram takes the code alone and words the rest itself. Out: a verification
// request, named by its id. https://core.telegram.org/gateway/api
//
// `checkSendAbility` is not asked first. It is charged as soon as it confirms, and only a message that was sent and not delivered
// within its `ttl` is refunded; sending at once refuses an unreachable number just the same, and free of charge. So asking first saves
// nothing, costs a second call, and costs money whenever the message does not follow.
import { Buffer } from 'node:buffer'
import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { equal } from '../../../infra/crypto/compare.ts'
import type { Report } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import {
  BadSignature,
  type Callback,
  type Errand,
  type Provider,
  ProviderFault,
  RecipientFault,
  type Tools,
  UnknownOutcome,
} from '../provider.ts'
import { type Answer, ask, faultOf, isSuccess, retryAfterMs } from './answers.ts'
import { isFresh, readCallback } from './callbacks.ts'

export function telegramGateway(
  { config }: { config: ProviderConfigs['telegram_gateway'] },
  { outbound, clock, callbackUrl }: Tools,
): Provider {
  const { token, base_url } = config
  const url = `${base_url}/sendVerificationMessage`
  const headers = {
    ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
  }
  const reports = callbackUrl !== null && isReportable(callbackUrl) ? callbackUrl : null

  const provider: Provider = {
    async send({ recipient, code, errand }, signal) {
      const body = JSON.stringify({
        ...{ phone_number: recipient, code, ttl: ttlOf(errand, clock.now()) },
        payload: errand.delivery.delivery_id,
        ...(reports === null ? {} : { callback_url: reports }),
      })
      const answer = await ask(outbound, { method: 'POST', url, headers, body, signal })
      return { reference: takenAs(answer, clock.now()) }
    },
  }
  if (reports === null) return provider
  return {
    ...provider,
    hear(callback, now) {
      if (!isSigned(callback, token, now)) throw new BadSignature()
      const { request_id, payload, delivery_status } = readCallback(REQUEST_STATUS, callback.body)
      const status = REPORTS.get(delivery_status?.status ?? '')
      return status ? [{ kind: 'receipt', delivery_id: payload || null, reference: request_id, status }] : []
    },
  }
}

const LONGEST_URL = 256

/** Telegram refuses the whole message for an address it will not call. */
const isReportable = (url: string): boolean => url.startsWith('https://') && Buffer.byteLength(url) <= LONGEST_URL

const SHORTEST_S = 30
const LONGEST_S = 3_600

/** A message that is not delivered while its code lives is withdrawn, and its fee refunded. */
const ttlOf = ({ otp }: Errand, now: number): number =>
  Math.min(Math.max(Math.floor((otp.expires_at - now) / 1000), SHORTEST_S), LONGEST_S)

const TAKEN = z.object({ ok: z.literal(true), result: z.object({ request_id: z.string().min(1).max(200) }) })
const REFUSED = z.object({ ok: z.literal(false), error: z.string().regex(/^[A-Z][A-Z0-9_]{0,60}$/) })

function takenAs(answer: Answer, now: number): string {
  const taken = TAKEN.safeParse(answer.json)
  if (isSuccess(answer) && taken.success) return taken.data.result.request_id
  const error = REFUSED.safeParse(answer.json).data?.error
  if (error !== undefined) throw refusalOf(error) ?? faultOf(answer, now, withoutNumbers(error))
  if (isSuccess(answer) && !isRefusal(answer.json))
    throw new UnknownOutcome('it took the message, as it seems, and named none')
  throw faultOf(answer, now)
}

/** Names are logged; a number in one may be anything. */
const withoutNumbers = (name: string): string => name.replaceAll(/\d+/g, 'n')

const isRefusal = (json: unknown): boolean => z.object({ ok: z.literal(false) }).safeParse(json).success

/** The documentation lists no errors; these are the names its clients know. Any other is the provider's fault, a bad token, an empty
 *  balance or a parameter of ours included. */
function refusalOf(error: string): Error | null {
  if (RECIPIENTS_FAULTS.has(error)) return new RecipientFault(`it answered ${error}`)
  // Of a request of ours: the message is out.
  if (error === 'MESSAGE_ALREADY_SENT') return new UnknownOutcome(`it answered ${error}`)
  const [, seconds] = /^FLOOD_WAIT(?:_(\d{1,9}))?$/.exec(error) ?? []
  return seconds === undefined
    ? null
    : new ProviderFault('it answered FLOOD_WAIT', { retryAfterMs: retryAfterMs(seconds, 0) })
}

const RECIPIENTS_FAULTS: ReadonlySet<string> = new Set([
  'PHONE_NUMBER_INVALID',
  'PHONE_NUMBER_NOT_FOUND', // nobody on Telegram has it
  'PHONE_NUMBER_NOT_AVAILABLE', // whoever has it cannot be sent codes
])

const REQUEST_STATUS = z.object({
  request_id: z.string().min(1).max(200),
  payload: z.string().max(256).optional(),
  delivery_status: z.object({ status: z.string() }).optional(),
})

const REPORTS: ReadonlyMap<string, Report> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['expired', 'failed'],
  ['revoked', 'failed'],
])

const TIMESTAMP = /^\d{1,12}$/

/** Hex HMAC-SHA256 of the time, a line feed and the body, keyed with the token's SHA-256. */
function isSigned({ headers, body }: Callback, token: string, now: number): boolean {
  const { 'x-request-signature': signature, 'x-request-timestamp': timestamp } = headers
  if (signature === undefined || timestamp === undefined || !TIMESTAMP.test(timestamp)) return false
  const key = createHash('sha256').update(token).digest()
  const expected = createHmac('sha256', key).update(`${timestamp}\n`).update(body).digest('hex')
  return equal(signature.toLowerCase(), expected) && isFresh(Number(timestamp) * 1000, now)
}
