// SMS by Vonage's Messages API. In: a message. Out: the message's UUID.
// https://developer.vonage.com/en/api/messages, https://developer.vonage.com/en/messages/concepts/signed-webhooks
// `client_ref` holds the delivery id and comes back in every receipt. Vonage chooses the encoding (GSM-7 or UCS-2) by the text.
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import {
  BadCallback,
  BadSignature,
  type CallbackItem,
  type Provider,
  type ProviderDeps,
  type ReceiptFailure,
  RecipientFault,
  type RenderedMessage,
} from '../provider.ts'
import { errorTextIn } from './error-text.ts'
import { parseCallbackBody } from './signed-callbacks.ts'
import {
  answerSummary,
  callVendor,
  faultFromStatus,
  isSuccess,
  successWithoutId,
  type VendorResponse,
  vendorAnswer,
} from './vendor-http.ts'
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
      const headers = {
        authorization: `Bearer ${token(clock.now())}`,
        'content-type': 'application/json',
        accept: 'application/json',
      }
      const body = JSON.stringify({ ...payloadOf(message, config), ...webhookFields(receiptsUrl) })
      const answer = await callVendor(outbound, { method: 'POST', url, headers, body, signal })
      return { reference: acceptedReference(answer, clock.now()), httpStatus: answer.status }
    },
  }
  if (signature_secret === null || receiptsUrl === null) return provider
  return {
    ...provider,
    parseCallback({ headers, body }, now) {
      const signature = { secret: signature_secret, application_id, body, now }
      if (!isSignedByVonage(headers.authorization, signature)) throw new BadSignature()
      return receiptOf(body)
    },
  }
}

/** Sets the address for this message only; the address in the Vonage application is not changed. */
const webhookFields = (url: string | null) => (url === null ? {} : { webhook_url: url, webhook_version: 'v1' })

/** Vonage expects numbers without a plus. */
const payloadOf = ({ recipient, text, job }: RenderedMessage, { from }: Config) => ({
  channel: 'sms',
  message_type: 'text',
  to: recipient.replace(/^\+/, ''),
  from: from.replace(/^\+(?=\d+$)/, ''),
  text,
  client_ref: job.delivery.delivery_id,
})

const ACCEPTED = z.object({ message_uuid: z.string().min(1).max(100) })
const ERROR_BODY = z.object({ type: z.string().max(200) })

function acceptedReference(answer: VendorResponse, now: number): string {
  if (isSuccess(answer)) {
    const accepted = ACCEPTED.safeParse(answer.json)
    if (accepted.success) return accepted.data.message_uuid
    throw successWithoutId(answer)
  }
  const code = codeOf(answer.json)
  if (code !== undefined && answer.status < 500 && RECIPIENT_ERRORS.has(code))
    throw new RecipientFault(answerSummary(answer, code), { answer: vendorAnswer(answer, code) })
  throw faultFromStatus(answer, now, code)
}

/** An error's type is an address that ends in its code: `…/api-errors/messages#1170`. The code is logged, so its length is limited. */
const codeOf = (json: unknown): string | undefined =>
  /#(\d{1,6}|[a-z-]{1,40})$/.exec(ERROR_BODY.safeParse(json).data?.type ?? '')?.[1]

/** https://developer.vonage.com/en/api-errors/messages. Errors that depend on the account, its sender or its route are left out. */
const RECIPIENT_ERRORS: ReadonlySet<string> = new Set([
  '1050', // barred
  '1170', // not a valid number
  '1190', // no longer active
  '1240', // the user said STOP; using another provider would get round it
  '1430', // not a recipient of this channel
])

const STATUS = z.object({
  status: z.string().optional(),
  message_uuid: z.string().min(1).max(100).nullish(),
  client_ref: z.string().min(1).max(100).nullish(),
  /** Says why a message was rejected or is undeliverable, in the shape of the errors of calls. */
  error: z.unknown().optional(),
})

function receiptOf(body: Uint8Array): CallbackItem[] {
  const { status, message_uuid, client_ref, error } = parseCallbackBody(STATUS, body)
  const delivery_id = client_ref ?? null
  const reference = message_uuid ?? null
  if ((delivery_id ?? reference) === null) throw new BadCallback('it names no message')
  // A user's own message has no status and is ignored.
  const report = status === undefined ? undefined : STATUSES.get(status)
  if (report === undefined) return []
  const receipt = { kind: 'receipt', delivery_id, reference, status: report } as const
  return [report === 'failed' ? { ...receipt, failure: failureOf(error) } : receipt]
}

function failureOf(error: unknown): ReceiptFailure {
  const code = codeOf(error)
  const isRecipients = code !== undefined && (RECIPIENT_ERRORS.has(code) || UNREACHABLE.has(code))
  return {
    reason: isRecipients ? 'recipient_unreachable' : 'provider_failed',
    vendorCode: code ?? null,
    vendorText: errorTextIn(error),
  }
}

/** Errors of the recipient that are known only once the network was asked. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  '1180', // switched off or out of coverage
  '1200', // moved to another carrier
  '1220', // the handset is busy
  '1260', // could not be reached
  '1280', // the recipient's carrier blocks it
  '1290', // a prepaid account without credit
  '1300', // not a user of the network
  '1310', // a device that cannot receive it
])

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['submitted', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['rejected', 'failed'],
  ['undeliverable', 'failed'],
])
