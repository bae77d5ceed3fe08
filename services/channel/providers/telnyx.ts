// SMS by Telnyx's Messaging API v2. In: a message. Out: the id of the message.
// Telnyx signs the body of a callback and not its address. The body repeats the address that the message was sent with, so the delivery id
// is read there.
import { Buffer } from 'node:buffer'
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { telnyx } from '../../domain/tenancy/provider-types/telnyx.ts'
import { BadSignature, type Callback, type Provider, type ProviderDeps, type ReceiptFailure } from '../provider.ts'
import { failureBy, isRecentTimestamp, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import { errorTextIn, postJson, readAnswer } from './vendor-http.ts'

export function createTelnyxProvider(
  { config }: { config: ProviderConfigs['telnyx'] },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { api_key, from, messaging_profile_id, public_key, base_url } = config
  const headers = { authorization: `Bearer ${api_key}` }
  // Without the key no receipt can be checked, so none is requested.
  const receiptsUrl = public_key === null ? null : callbackUrl

  const provider: Provider = {
    async send({ recipient, text, delivery_id }, signal) {
      const body = {
        to: recipient,
        text,
        ...(from === null ? {} : { from }),
        ...(messaging_profile_id === null ? {} : { messaging_profile_id }),
        ...(receiptsUrl === null ? {} : { webhook_url: `${receiptsUrl}?${new URLSearchParams({ delivery_id })}` }),
      }
      const answer = await postJson(outbound, { url: `${base_url}/v2/messages`, headers, body, signal })
      const { code, title } = ERROR_BODY.safeParse(answer.json).data?.errors[0] ?? {}
      // Telnyx also refuses a sender without a profile with the code of STOP.
      const errors = code === STOP && !/\bSTOP\b/.test(title ?? '') ? {} : telnyx.errors
      return readAnswer(answer, clock.now(), { id: ID, code, errors })
    },
  }
  if (public_key === null || receiptsUrl === null) return provider
  const key = ed25519Key(public_key)
  return {
    ...provider,
    parseCallback(callback, now) {
      if (!isSigned(callback, key, now)) throw new BadSignature()
      const { payload } = parseCallbackBody(EVENT, callback.body).data
      const { data: written } = MESSAGE.safeParse(payload)
      if (written) {
        const { id, from, text } = written
        return [{ kind: 'message', id, from: from.phone_number, user_id: null, text }]
      }
      const [error] = payload.errors
      return receiptItems(
        { delivery_id: deliveryIdIn(payload.webhook_url), reference: payload.id },
        STATUSES.get(payload.to[0]?.status ?? ''),
        () => failureOf(error?.code ?? null, errorTextIn(error)),
      )
    },
  }
}

const id = z.string().min(1).max(100)
const ID = z.object({ data: z.object({ id }) }).transform(({ data }) => data.id)

/** The code is logged, so a longer one is not read: it may hold a recipient. */
const code = z.string().regex(/^\d{1,6}$/)
const ERROR_BODY = z.object({ errors: z.tuple([z.object({ code, title: z.string().catch('') })], z.unknown()) })
const STOP = '40300'

/** In receipts the code of STOP also says that a number cannot be reached, which is no reason to stop for good. */
function failureOf(code: string | null, text: string | null): ReceiptFailure {
  const { unsubscribed, ...failure } = failureBy(telnyx.errors, code, text)
  return unsubscribed && /\bSTOP\b/.test(text ?? '') ? { ...failure, unsubscribed } : failure
}

/** A user's own message. */
const MESSAGE = z.object({
  direction: z.literal('inbound'),
  id,
  from: z.object({ phone_number: z.string().min(1).max(50) }),
  text: z.string(),
})

const EVENT = z.object({
  data: z.object({
    payload: z.looseObject({
      id,
      webhook_url: z.string().nullish(),
      to: z.array(z.object({ status: z.string().optional() })).catch([]),
      errors: z.array(z.looseObject({ code })).catch([]),
    }),
  }),
})

const deliveryIdIn = (url: string | null | undefined): string | null =>
  url && URL.canParse(url) ? new URL(url).searchParams.get('delivery_id') : null

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['queued', 'sent'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  ['delivery_unconfirmed', 'sent'],
  ['delivered', 'delivered'],
  ['sending_failed', 'failed'],
  ['delivery_failed', 'failed'],
  ['expired', 'failed'],
])

const ed25519Key = (base64: string): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(base64, 'base64').toString('base64url') },
    format: 'jwk',
  })

/** Ed25519 over the time in seconds, a bar and the body. */
function isSigned({ headers, body }: Callback, key: KeyObject, now: number): boolean {
  const { 'telnyx-signature-ed25519': signature = '', 'telnyx-timestamp': timestamp = '' } = headers
  if (!isRecentTimestamp(timestamp, now)) return false
  return verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), key, Buffer.from(signature, 'base64'))
}
