// SMS by Vonage's Messages API. In: a message. Out: the message's UUID.
// `client_ref` holds the delivery id and comes back in every receipt. Vonage chooses the encoding (GSM-7 or UCS-2) by the text.
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { vonage } from '../../domain/tenancy/provider-types/vonage.ts'
import { BadSignature, type CallbackItem, type Provider, type ProviderDeps, type RenderedMessage } from '../provider.ts'
import { failureBy, parseCallbackBody, receiptItems } from './signed-callbacks.ts'
import { errorTextIn, postJson, readAnswer } from './vendor-http.ts'
import { createVonageToken, isSignedByVonage } from './vonage.jwt.ts'

type Config = ProviderConfigs['vonage']

export function createVonageProvider(
  { config }: { config: Config },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { application_id, signature_secret, base_url } = config
  const token = createVonageToken(config)
  const url = `${base_url}/v1/messages`
  // Without the secret no receipt can be checked, so none is requested.
  const receiptsUrl = signature_secret === null ? null : callbackUrl

  const provider: Provider = {
    async send(message, signal) {
      const headers = { authorization: `Bearer ${token(clock.now())}` }
      const body = { ...payloadOf(message, config), ...webhookFields(receiptsUrl) }
      const answer = await postJson(outbound, { url, headers, body, signal })
      return readAnswer(answer, clock.now(), { id: ID, code: codeOf(answer.json), errors: vonage.errors })
    },
  }
  if (signature_secret === null || receiptsUrl === null) return provider
  return {
    ...provider,
    parseCallback({ headers, body }, now) {
      const signature = { secret: signature_secret, application_id, body, now }
      if (!isSignedByVonage(headers.authorization, signature)) throw new BadSignature()
      return itemsOf(body)
    },
  }
}

/** Sets the address for this message only; the address in the Vonage application is not changed. */
const webhookFields = (url: string | null) => (url === null ? {} : { webhook_url: url, webhook_version: 'v1' })

/** Vonage expects numbers without a plus. */
const payloadOf = ({ recipient, text, delivery_id }: RenderedMessage, { from }: Config) => ({
  channel: 'sms',
  message_type: 'text',
  to: recipient.replace(/^\+/, ''),
  from: from.replace(/^\+(?=\d+$)/, ''),
  text,
  client_ref: delivery_id,
})

const ID = z.object({ message_uuid: z.string().min(1).max(100) }).transform(({ message_uuid }) => message_uuid)
const ERROR_BODY = z.object({ type: z.string().max(200) })

/** An error's type is an address that ends in its code: `…/api-errors/messages#1170`. The code is logged, so its length is limited. */
const codeOf = (json: unknown): string | undefined =>
  /#(\d{1,6}|[a-z-]{1,40})$/.exec(ERROR_BODY.safeParse(json).data?.type ?? '')?.[1]

const MESSAGE = z.object({ channel: z.literal('sms'), from: z.string().min(1).max(50), text: z.string() })

const STATUS = z.looseObject({
  status: z.string().optional(),
  message_uuid: z.string().min(1).max(100).nullish(),
  client_ref: z.string().min(1).max(100).nullish(),
  /** Says why a message was rejected or is undeliverable, in the shape of the errors of calls. */
  error: z.unknown().optional(),
})

function itemsOf(body: Uint8Array): CallbackItem[] {
  const { status, message_uuid, client_ref, error, ...message } = parseCallbackBody(STATUS, body)
  // A user's own message has no status.
  const { data: written } = MESSAGE.safeParse(message)
  if (status === undefined && message_uuid && written)
    return [{ kind: 'message', id: message_uuid, user_id: null, from: written.from, text: written.text }]
  return receiptItems(
    { delivery_id: client_ref ?? null, reference: message_uuid ?? null },
    STATUSES.get(status ?? ''),
    () => failureBy(vonage.errors, codeOf(error) ?? null, errorTextIn(error)),
  )
}

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['submitted', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['rejected', 'failed'],
  ['undeliverable', 'failed'],
])
