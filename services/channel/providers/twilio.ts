// SMS by Twilio's Programmable Messaging. In: a message. Out: the SID of a Message resource.
// https://www.twilio.com/docs/messaging/api/message-resource
// The callback address contains the delivery id, so that a receipt that arrives before Twilio's answer is matched too.
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import {
  BadCallback,
  BadSignature,
  type DeliveryJob,
  type Provider,
  type ProviderDeps,
  type ReceiptFailure,
  RecipientFault,
} from '../provider.ts'
import { fieldsOf, isSignedByTwilio } from './twilio.signature.ts'
import {
  answerSummary,
  callVendor,
  faultFromStatus,
  isSuccess,
  successWithoutId,
  type VendorResponse,
  vendorAnswer,
} from './vendor-http.ts'

type Config = ProviderConfigs['twilio']

export function createTwilioProvider(
  { config }: { config: Config },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { account_sid, auth_token, base_url } = config
  const url = `${base_url}/2010-04-01/Accounts/${encodeURIComponent(account_sid)}/Messages.json`
  const headers = {
    authorization: `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  }

  const provider: Provider = {
    async send({ recipient, text, job }, signal) {
      const form = new URLSearchParams({ To: recipient, Body: text, ...senderOf(config) })
      form.set('ValidityPeriod', String(validitySeconds(job, clock.now())))
      const { delivery_id } = job.delivery
      if (callbackUrl !== null) form.set('StatusCallback', `${callbackUrl}?${new URLSearchParams({ delivery_id })}`)
      const answer = await callVendor(outbound, { method: 'POST', url, headers, body: form.toString(), signal })
      return { reference: acceptedReference(answer, clock.now()), httpStatus: answer.status }
    },
  }
  if (callbackUrl === null) return provider
  return {
    ...provider,
    // Twilio signs no time, so a replay cannot be detected. It repeats a receipt, which changes nothing.
    parseCallback({ url: called, headers: given, body }) {
      const fields = fieldsOf(body)
      if (!fields || !isSignedByTwilio(given['x-twilio-signature'], { url: called, fields, auth_token }))
        throw new BadSignature()
      const delivery_id = called.searchParams.get('delivery_id')
      const reference = fields.get('MessageSid')
      const status = fields.get('MessageStatus')
      if (status === null || (delivery_id ?? reference) === null) throw new BadCallback('no status of a message')
      const report = STATUSES.get(status)
      if (report === undefined) return []
      const receipt = { kind: 'receipt', delivery_id, reference, status: report } as const
      return [report === 'failed' ? { ...receipt, failure: failureOf(status, fields) } : receipt]
    },
  }
}

/** With both set, Twilio uses this sender of the messaging service. */
const senderOf = ({ from, messaging_service_sid }: Config): Record<string, string> => ({
  ...(from === null ? {} : { From: from }),
  ...(messaging_service_sid === null ? {} : { MessagingServiceSid: messaging_service_sid }),
})

/** Twilio accepts 1 to 36 000 seconds and recommends more than 5. */
const MIN_VALIDITY_S = 6
const MAX_VALIDITY_S = 36_000

/** A message that is still in Twilio's queue when its code expires is neither sent nor charged. */
const validitySeconds = ({ otp }: DeliveryJob, now: number): number =>
  Math.min(Math.max(Math.ceil((otp.expires_at - now) / 1000), MIN_VALIDITY_S), MAX_VALIDITY_S)

const ACCEPTED = z.object({ sid: z.string().min(1).max(100) })
/** The code is logged, so a longer number is not accepted: it may be a recipient's. */
const ERROR_BODY = z.object({ code: z.int().min(0).max(999_999) })

function acceptedReference(answer: VendorResponse, now: number): string {
  if (isSuccess(answer)) {
    const accepted = ACCEPTED.safeParse(answer.json)
    if (accepted.success) return accepted.data.sid
    throw successWithoutId(answer)
  }
  const code = ERROR_BODY.safeParse(answer.json).data?.code
  if (code !== undefined && answer.status < 500 && RECIPIENT_ERRORS.has(code))
    throw new RecipientFault(answerSummary(answer, code), { answer: vendorAnswer(answer, code) })
  throw faultFromStatus(
    answer,
    now,
    code,
    code !== undefined && DESTINATION_ERRORS.has(code) ? 'destination' : 'provider',
  )
}

/** Destinations that this account or sender may not send to. Another provider may. */
const DESTINATION_ERRORS: ReadonlySet<number> = new Set([
  21266, // the sender's own number
  21408, // a region that is not enabled
  21608, // a number that a trial account has not verified
  21612, // no route from this sender
])

/** https://www.twilio.com/docs/api/errors. */
const RECIPIENT_ERRORS: ReadonlySet<number> = new Set([
  21211, // not a valid number
  21214, // cannot be reached
  21217, // does not appear to be valid
  21265, // a short code
  21268, // a premium number
  21610, // the user said STOP; using another provider would get round it
  21614, // not a mobile number
  21635, // a landline
])

/** What receipts say beside them, with Twilio's names: a receipt has a code and seldom a text. */
const RECEIPT_TEXTS: ReadonlyMap<number, string> = new Map([
  [30001, 'Queue overflow'],
  [30002, 'Account suspended'],
  [30003, 'Unreachable destination handset'],
  [30004, 'Message blocked'],
  [30005, 'Unknown destination handset'],
  [30006, 'Landline or unreachable carrier'],
  [30007, 'Message filtered'],
  [30008, 'Unknown error'],
])

/** The phone is off or out of reach, blocks the message, does not exist, or takes no text messages. */
const UNREACHABLE: ReadonlySet<number> = new Set([30003, 30004, 30005, 30006])

function failureOf(status: string, fields: URLSearchParams): ReceiptFailure {
  const code = /^\d{1,6}$/.test(fields.get('ErrorCode') ?? '') ? Number(fields.get('ErrorCode')) : 0
  const isRecipients = UNREACHABLE.has(code) || RECIPIENT_ERRORS.has(code)
  return {
    reason: status === 'canceled' ? 'superseded' : isRecipients ? 'recipient_unreachable' : 'provider_failed',
    vendorCode: code === 0 ? status : String(code),
    vendorText: fields.get('ErrorMessage') || (RECEIPT_TEXTS.get(code) ?? null),
  }
}

/** Even the first statuses prove that Twilio accepted the message, which settles a call whose outcome is unknown. */
const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['accepted', 'sent'],
  ['scheduled', 'sent'],
  ['queued', 'sent'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  // Twilio lists this status without a word on what it means. Some of the message arrived: it has not failed, and another status may follow.
  ['partially_delivered', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])
